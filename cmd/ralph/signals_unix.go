//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
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

// unread reports whether a signal says that nobody reads any more what ralph says.
func unread(s os.Signal) bool { return s == syscall.SIGPIPE }
