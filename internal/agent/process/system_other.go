//go:build !linux && !darwin

package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// On these systems an agent is one process: it can be started, fed, read and killed, and what it starts is not followed.

const continueSignal = syscall.Signal(0)

func attributes(Spec) *syscall.SysProcAttr { return nil }

// awaitExit also reaps: waiting without it takes a call that not every system has. The state stays in cmd.
func awaitExit(cmd *exec.Cmd) error {
	_ = cmd.Wait() // a non-zero exit is no error here
	return nil
}

func enableSubreaper() error { return errors.ErrUnsupported }

func widen(*os.File) {}

func snapshot() (table, error) { return nil, nil }

// look knows no start times, so no process but a child can be named for sure.
func look(int) (member, bool) { return member{}, false }

func carries(int, string) bool { return false }

func markOf(int) string { return "" }

func commandLine(int) string { return "" }

func signalGroup(leader *os.Process, sig syscall.Signal) error {
	if sig == syscall.SIGTERM {
		// There is no polite request that a console program without a window would receive.
		return errors.ErrUnsupported
	}
	return leader.Signal(sig)
}

func wakeGroup(*os.Process) {}

func killGroup(int) error { return errors.ErrUnsupported }

func reapAdopted(int) bool { return true }

func enterable(string) bool { return true }

func signalName(*os.ProcessState) string { return "" }

func readNow(syscall.RawConn, []byte) (int, bool, error) { return 0, false, errors.ErrUnsupported }
