package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

func deathSignal(*syscall.SysProcAttr, syscall.Signal) {}

// awaitExit returns when the child has ended, and leaves it unreaped. It asks kqueue, because
// waitid on this system also returns for a child that was merely stopped.
func awaitExit(cmd *exec.Cmd) error {
	pid := cmd.Process.Pid
	queue, err := unix.Kqueue()
	if err != nil {
		return os.NewSyscallError("kqueue", err)
	}
	defer unix.Close(queue)
	watch := unix.Kevent_t{Fflags: unix.NOTE_EXIT}
	unix.SetKevent(&watch, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	events := make([]unix.Kevent_t, 1)
	for {
		// An event also comes, with EV_ERROR and ESRCH, for a child that has ended already.
		_, err := unix.Kevent(queue, []unix.Kevent_t{watch}, events, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ESRCH):
			return nil
		default:
			return os.NewSyscallError("kevent", err)
		}
	}
}

func listProcesses(group int) (table, error) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, os.NewSyscallError("sysctl kern.proc.all", err)
	}
	var t table
	for i := range all {
		if m := fromKernel(&all[i]); group == 0 || m.pgid == group {
			t = append(t, m)
		}
	}
	return t, nil
}

func inspect(pid int) (info, bool) {
	found, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(found.Proc.P_pid) != pid {
		return info{}, false
	}
	return fromKernel(found), true
}

func fromKernel(proc *unix.KinfoProc) info {
	const zombie = 5 // SZOMB in <sys/proc.h>
	started := proc.Proc.P_starttime
	m := info{
		identity: identity{int(proc.Proc.P_pid), uint64(started.Sec)*1_000_000 + uint64(started.Usec)},
		ppid:     int(proc.Eproc.Ppid),
		pgid:     int(proc.Eproc.Pgid),
	}
	if sid, err := unix.Getsid(m.pid); err == nil {
		m.sid = sid
	}
	if proc.Proc.P_stat == zombie {
		m.state = 'Z'
	}
	return m
}

// environOf returns the environment that a process of this user was started with; nil if it
// cannot be read. KERN_PROCARGS2 yields the argument count, the arguments and the environment,
// separated by NUL, and refuses for other users.
func environOf(pid int) []byte {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Eproc.Pcred.P_ruid) != os.Getuid() {
		return nil
	}
	args, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return nil
	}
	return args
}

func commandLine(pid int) string {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return ""
	}
	return "[" + unix.ByteSliceToString(info.Proc.P_comm[:]) + "]"
}
