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

func (p *Process) attributes() *syscall.SysProcAttr {
	// A command that keeps our session differs by that from the processes that an agent left to us.
	session := p.command == nil || p.command.Session
	attributes := &syscall.SysProcAttr{Setsid: session, Setpgid: !session}
	deathSignal(attributes, p.spec.ParentDeath)
	return attributes
}

func sessionAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func shellArgv(line string) []string { return []string{"sh", "-c", line} }

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

// reapOrphan reaps an adopted child that has ended, by its pid: a wait for any child would take the
// exit status from an os/exec that waits for it. It reports whether there is nothing left to reap.
func reapOrphan(pid int) bool {
	orphanExits.Add(1)
	reaped, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
	return reaped == pid || errors.Is(err, unix.ECHILD)
}

// hasMark reports whether a process of this user was started with the mark in its environment.
func hasMark(pid int, mark string) bool {
	entries := append([]byte{0}, environOf(pid)...)
	return bytes.Contains(entries, []byte("\x00"+MarkVariable+"="+mark+"\x00"))
}

// Variable returns a variable of the environment that a process of this user was started with;
// empty if there is none or it cannot be read.
func Variable(pid int, name string) string {
	for entry := range bytes.SplitSeq(environOf(pid), []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, []byte(name+"=")); ok {
			return string(value)
		}
	}
	return ""
}

func enterable(dir string) bool { return unix.Access(dir, unix.X_OK) == nil }

func signalName(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return ""
	}
	return unix.SignalName(status.Signal())
}

// readNow reads what a pipe contains at this moment; 0 is nothing, or its end.
func readNow(conn syscall.RawConn, into []byte) (n int, err error) {
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
		return 0, readErr
	case errors.Is(err, unix.EAGAIN):
		return 0, nil
	case err != nil:
		return 0, os.NewSyscallError("read", err)
	}
	return n, nil
}
