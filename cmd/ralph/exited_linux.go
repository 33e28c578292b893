package main

import (
	"context"
	"os"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/registry"
)

// exited returns a channel that is closed when the runner's process has ended, or nil where the kernel
// cannot be asked to say so: another host's runner, or one that is gone already.
func exited(ctx context.Context, runner registry.Liveness) <-chan struct{} {
	host, _ := os.Hostname()
	if !runner.Alive || runner.PID <= 0 || runner.Host != host {
		return nil
	}
	fd, err := unix.PidfdOpen(runner.PID, unix.PIDFD_NONBLOCK)
	if err != nil {
		return nil
	}
	process := os.NewFile(uintptr(fd), "pidfd")
	conn, err := process.SyscallConn()
	// Asked only now: a process that has the descriptor cannot have been another one before.
	began, unseen := registry.ProcessStart(runner.PID)
	if err != nil || unseen != nil || began != runner.StartTicks {
		_ = process.Close()
		return nil
	}
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { _ = process.Close() })
	go func() {
		defer stop()
		if conn.Read(ended) != nil {
			return
		}
		_ = process.Close()
		if ctx.Err() == nil { // the file of one who called it off may be closed later than the process ends
			close(over)
		}
	}()
	return over
}

// ended reports whether the process of a pidfd has ended.
func ended(pidfd uintptr) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, 0)
	return n > 0 && err == nil
}
