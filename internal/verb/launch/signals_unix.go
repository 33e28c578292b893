//go:build unix

package launch

import (
	"os"
	"os/signal"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// notifyShutdown sends the signals that ask a loop in the foreground to stop: ctrl-c, TERM, the end
// of its terminal unless it was started to outlive that (nohup), and a broken pipe, as with head.
//
// A guardrail stays in this session. If it asks the terminal for a passphrase it must fail at once,
// and not be stopped by the kernel until its timeout. So it inherits that these two signals are
// ignored.
func notifyShutdown(received chan<- os.Signal) {
	signal.Notify(received, os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(received, syscall.SIGHUP)
	}
	signal.Ignore(syscall.SIGTTIN, syscall.SIGTTOU)
}

// aboutPipes reports whether a signal says that a reader has gone.
func aboutPipes(s os.Signal) bool { return s == syscall.SIGPIPE }

// readerGone reports whether one of these streams is a pipe without a reader. The signal alone does
// not say so: it also comes from a pipe to an agent, or to git, that exits before it has read all
// of its input.
func readerGone(streams ...any) bool {
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
