//go:build linux || darwin

package process

import (
	"bytes"
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	continueSignal = syscall.SIGCONT

	maxEnviron = 8 << 20 // above what exec takes on any system
	maxCommand = 200
)

// signalGroup signals the group that an unreaped child leads.
func signalGroup(leader *os.Process, sig syscall.Signal) error {
	return groupError(unix.Kill(-leader.Pid, sig))
}

func wakeGroup(leader *os.Process) { _ = unix.Kill(-leader.Pid, unix.SIGCONT) }

func killGroup(group int) error { return groupError(unix.Kill(-group, unix.SIGKILL)) }

func groupError(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return os.ErrProcessDone
	}
	return os.NewSyscallError("kill", err)
}

// reapAdopted collects a child that has ended and that nobody waits for, by its pid: a wait for any child would take the exit
// status from an os/exec that does wait. It reports whether there is nothing left to collect.
func reapAdopted(pid int) bool {
	deaths.Add(1)
	reaped, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
	return reaped == pid || errors.Is(err, unix.ECHILD)
}

// carries reports whether a process of this user was started with the mark in its environment.
func carries(pid int, mark string) bool { return hasEntry(environOf(pid), MarkVariable+"="+mark) }

// markOf returns the mark that a process of this user was started with; empty where there is none.
func markOf(pid int) string {
	for entry := range bytes.SplitSeq(environOf(pid), []byte{0}) {
		if mark, ok := bytes.CutPrefix(entry, []byte(MarkVariable+"=")); ok {
			return string(mark)
		}
	}
	return ""
}

// hasEntry reports whether a list of strings, each closed by a NUL, contains entry.
func hasEntry(list []byte, entry string) bool {
	for candidate := range bytes.SplitSeq(list, []byte{0}) {
		if string(candidate) == entry {
			return true
		}
	}
	return false
}

func enterable(dir string) bool { return unix.Access(dir, unix.X_OK) == nil }

func signalName(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return ""
	}
	return unix.SignalName(status.Signal())
}

// readNow reads what a pipe holds at this moment; end is its end.
func readNow(conn syscall.RawConn, into []byte) (n int, end bool, err error) {
	readErr := conn.Read(func(fd uintptr) bool {
		for {
			n, err = unix.Read(int(fd), into)
			if !errors.Is(err, unix.EINTR) {
				return true
			}
		}
	})
	switch {
	case readErr != nil:
		return 0, false, readErr
	case errors.Is(err, unix.EAGAIN):
		return 0, false, nil
	case err != nil:
		return 0, false, os.NewSyscallError("read", err)
	}
	return n, n == 0, nil
}
