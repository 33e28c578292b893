package registry

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// ProcessStart returns when a process of this machine began, in clock ticks since boot (proc(5), /proc/pid/stat field 22). With the pid it
// names one process: a later one with the same pid has another start. An error means that no such process can be seen.
func ProcessStart(pid int) (uint64, error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, fmt.Errorf("read process start: %w", err)
	}
	// The second field is the command in parentheses, which may itself hold spaces and parentheses; the last one ends it.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const startTime = 22 - 3 // fields now begins with the third
	if len(fields) <= startTime {
		return 0, fmt.Errorf("read process start: /proc/%d/stat has %d fields", pid, len(fields)+2)
	}
	ticks, err := strconv.ParseUint(string(fields[startTime]), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read process start: %w", err)
	}
	return ticks, nil
}
