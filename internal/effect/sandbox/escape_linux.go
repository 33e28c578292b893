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

// openKernelSetting opens a file that says which program the kernel runs, and writes nothing.
func openKernelSetting() error { return openToWrite("/proc/sys/kernel/core_pattern") }

func openToWrite(path string) error {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

func unmount(dir string) error { return unix.Unmount(dir, unix.MNT_DETACH) }

// makeDevice makes the device of /dev/null under another name, and opens it.
func makeDevice(path string) error {
	if err := unix.Mknod(path, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))); err != nil {
		return err
	}
	return openToWrite(path)
}
