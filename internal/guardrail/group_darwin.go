package guardrail

import (
	"errors"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"
)

// awaitExit returns when the child has ended, and leaves it unreaped. It asks kqueue, because waitid on this system also returns for a
// child that was merely stopped.
func awaitExit(cmd *exec.Cmd) error {
	queue, err := unix.Kqueue()
	if err != nil {
		return os.NewSyscallError("kqueue", err)
	}
	defer unix.Close(queue)
	watch := unix.Kevent_t{Fflags: unix.NOTE_EXIT}
	unix.SetKevent(&watch, cmd.Process.Pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	events := make([]unix.Kevent_t, 1)
	for {
		_, err := unix.Kevent(queue, []unix.Kevent_t{watch}, events, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ESRCH): // it has ended already
			return nil
		default:
			return os.NewSyscallError("kevent", err)
		}
	}
}

// countAlive returns how many processes of a group have not ended. Those that have, and have become our children because their parent
// ended first, are reaped; the leader is left to its waiter.
func countAlive(group int) (int, error) {
	const zombie = 5 // SZOMB in <sys/proc.h>
	members, err := unix.SysctlKinfoProcSlice("kern.proc.pgrp", group)
	if err != nil {
		return 0, os.NewSyscallError("sysctl kern.proc.pgrp", err)
	}
	alive := 0
	for i := range members {
		pid := int(members[i].Proc.P_pid)
		switch {
		case members[i].Proc.P_stat != zombie:
			alive++
		case int(members[i].Eproc.Ppid) == os.Getpid() && pid != group:
			reapAdopted(pid)
		}
	}
	return alive, nil
}
