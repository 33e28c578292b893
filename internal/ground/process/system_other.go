//go:build !linux && !darwin

package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// On these systems an agent is one process: it can be started, written to, read and killed. Its
// descendants are not followed.

const continueSignal = syscall.Signal(0)

func (p *Process) attributes() *syscall.SysProcAttr {
	if p.command == nil {
		return nil
	}
	return shellAttributes(p.command.Shell)
}

func sessionAttributes() *syscall.SysProcAttr { return nil }

// awaitExit also reaps: waiting without it takes a call that not every system has. The state stays
// in cmd.
func awaitExit(cmd *exec.Cmd) error {
	_ = cmd.Wait() // a non-zero exit is no error here
	return nil
}

func listProcesses(int) (table, error) { return nil, nil }

// inspect reads no start times, so only a child can be named with certainty.
func inspect(int) (info, bool) { return info{}, false }

func hasMark(int, string) bool { return false }

// Variable returns nothing.
func Variable(int, string) string { return "" }

func commandLine(int) string { return "" }

func signalGroup(leader *os.Process, sig syscall.Signal) error {
	if sig == syscall.SIGTERM {
		// There is no request to exit that a console program without a window would receive.
		return errors.ErrUnsupported
	}
	return leader.Signal(sig)
}

func wakeGroup(*os.Process) {}

func killGroup(int) error { return errors.ErrUnsupported }

func reapOrphan(int) bool { return true }

func enterable(string) bool { return true }

func signalName(*os.ProcessState) string { return "" }

func readNow(syscall.RawConn, []byte) (int, error) { return 0, errors.ErrUnsupported }
