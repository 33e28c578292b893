//go:build !unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// hear sends what asks a loop in the foreground to stop.
func hear(received chan<- os.Signal) { signal.Notify(received, os.Interrupt, syscall.SIGTERM) }

// unread reports whether a signal says that nobody reads any more what ralph says: here none does.
func unread(os.Signal) bool { return false }
