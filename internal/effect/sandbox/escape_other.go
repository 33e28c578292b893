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

var errUntried = errors.New("it is not tried on this system")

func traceProcess(int) error { return errUntried }

func openKernelSetting() error { return errUntried }

func unmount(string) error { return errUntried }

func makeDevice(string) error { return errUntried }

func leaveProcess(mark string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return exec.Command(self, "inside", "--sleep", "61s", "--", mark).Start()
}
