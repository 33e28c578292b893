package guardrail

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"

	"golang.org/x/sys/unix"
)

// awaitExit returns when the child has ended, and leaves it unreaped.
func awaitExit(cmd *exec.Cmd) error {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return os.NewSyscallError("waitid", err)
		}
	}
}

// countAlive returns how many processes of a group have not ended. Those that have, and have become our children because their parent
// ended first, are reaped; the leader is left to its waiter.
func countAlive(group int) (int, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return 0, err
	}
	alive := 0
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		// One call for each process; only the few of the group are read.
		if of, err := unix.Getpgid(pid); err != nil || of != group {
			continue
		}
		ended, parent, known := look(pid)
		switch {
		case known && !ended:
			alive++
		case known && parent == os.Getpid() && pid != group:
			reapAdopted(pid)
		}
	}
	return alive, nil
}

// look reads proc_pid_stat(5): "pid (comm) state ppid …", the number of threads in field 20. The name may contain spaces and
// parentheses, so the fields are counted from the last closing one. It is not known when it is gone.
func look(pid int) (ended bool, parent int, known bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false, 0, false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 18 {
		return false, 0, false
	}
	parent, err = strconv.Atoi(string(fields[1]))
	// A process whose first thread has ended shows the letter of a zombie while its other threads still run.
	state, threads := fields[0][0], string(fields[17])
	ended = state == 'X' || state == 'Z' && (threads == "0" || threads == "1")
	return ended, parent, err == nil
}
