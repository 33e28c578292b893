//go:build unix

package repo

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// noWait keeps open from waiting for the other end of a FIFO.
const noWait = syscall.O_NONBLOCK

// ownSession takes the terminal from a command: what asks /dev/tty for a passphrase gets an error, not a person.
func ownSession(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return signalGroup(cmd, syscall.SIGTERM) }
}

// endSession kills what is left of a command that has been waited for. The number of its group is not given out anew while a
// process of the group lives; when none does, this finds nothing.
func endSession(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = signalGroup(cmd, syscall.SIGKILL)
	}
}

func signalGroup(cmd *exec.Cmd, sig syscall.Signal) error {
	err := syscall.Kill(-cmd.Process.Pid, sig)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return os.NewSyscallError("kill", err)
}
