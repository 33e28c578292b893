package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

func signalProcess(pid int) error { return syscall.Kill(pid, syscall.SIGCONT) }

func traceProcess(pid int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.PtraceSeize(pid); err != nil {
		return err
	}
	return errors.Join(unix.PtraceInterrupt(pid), unix.PtraceDetach(pid))
}

// leaveProcess starts a process in a session of its own, for which no process waits.
func leaveProcess(mark string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, "inside", "--sleep", "61s", "--", mark)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Env = []string{}
	return cmd.Start()
}
