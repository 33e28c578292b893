//go:build !unix

package launch

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyShutdown sends the signals that ask a loop in the foreground to stop.
func notifyShutdown(received chan<- os.Signal) {
	signal.Notify(received, os.Interrupt, syscall.SIGTERM)
}

// aboutPipes reports whether a signal says that a reader has gone: here none does.
func aboutPipes(os.Signal) bool { return false }

func readerGone(...any) bool { return false }
