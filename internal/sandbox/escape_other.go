//go:build !linux

package sandbox

import (
	"errors"
	"os"
	"os/exec"
)

func signalProcess(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Signal(continued)
}

func traceProcess(int) error { return errors.New("it is not tried on this system") }

func leaveProcess(mark string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return exec.Command(self, "inside", "--sleep", "61s", "--", mark).Start()
}
