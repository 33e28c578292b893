//go:build !unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// hear sends what asks a loop in the foreground to stop.
func hear(received chan<- os.Signal) { signal.Notify(received, os.Interrupt, syscall.SIGTERM) }

// hearTerminal sends what says that a terminal has another size: here nothing does, and it is asked for.
func hearTerminal(chan<- os.Signal) {}

func continued(os.Signal) bool { return false }

func suspendSelf() {}

// aboutPipes reports whether a signal says that somebody has stopped reading: here none does.
func aboutPipes(os.Signal) bool { return false }

func unread(...any) bool { return false }
