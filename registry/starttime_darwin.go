package registry

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// ProcessStart returns when a process of this machine began, in microseconds since 1970 (sysctl kern.proc.pid, p_starttime). With the pid it
// names one process: a later one with the same pid has another start. An error means that no such process can be seen.
func ProcessStart(pid int) (uint64, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0, fmt.Errorf("read process start: %w", err)
	}
	at := info.Proc.P_starttime
	return uint64(at.Sec)*1e6 + uint64(at.Usec), nil
}
