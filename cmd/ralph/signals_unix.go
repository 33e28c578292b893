//go:build unix

package main

import (
	"os"
	"os/signal"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// hear sends what asks a loop in the foreground to stop: ctrl-c, TERM, and the end of its terminal, where it was
// not started to outlive that (nohup); and that nobody reads any more what it says, as with head at the end of a pipe.
//
// A guardrail stays in this session. One that asks the terminal for a passphrase is to fail, and not to be stopped
// for it by the kernel until its time is over; it inherits that these two signals are ignored.
func hear(received chan<- os.Signal) {
	signal.Notify(received, os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(received, syscall.SIGHUP)
	}
	signal.Ignore(syscall.SIGTTIN, syscall.SIGTTOU)
}

// hearTerminal sends what says that a terminal has another size, or that a program that was suspended goes on.
func hearTerminal(received chan<- os.Signal) {
	signal.Notify(received, syscall.SIGWINCH, syscall.SIGCONT)
}

// continued reports whether a signal says that this program was suspended and goes on.
func continued(s os.Signal) bool { return s == syscall.SIGCONT }

// suspendSelf stops this program and its job, as ctrl-z does in a terminal's line mode. Where no shell could let it go on, the
// kernel does nothing.
func suspendSelf() { _ = syscall.Kill(0, syscall.SIGTSTP) }

// aboutPipes reports whether a signal says that somebody has stopped reading.
func aboutPipes(s os.Signal) bool { return s == syscall.SIGPIPE }

// unread reports whether nobody reads any more what is written to one of these streams. The signal does not say that: it comes as
// well of a pipe to an agent, or to git, that ends before it has read all that it is told.
func unread(streams ...any) bool {
	return slices.ContainsFunc(streams, func(stream any) bool {
		f, ok := stream.(*os.File)
		if !ok {
			return false
		}
		fds := []unix.PollFd{{Fd: int32(f.Fd())}}
		n, err := unix.Poll(fds, 0)
		return err == nil && n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
	})
}
