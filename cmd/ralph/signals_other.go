//go:build !unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// hear sends what asks a loop in the foreground to stop.
func hear(received chan<- os.Signal) { signal.Notify(received, os.Interrupt, syscall.SIGTERM) }

// aboutPipes reports whether a signal says that somebody has stopped reading: here none does.
func aboutPipes(os.Signal) bool { return false }

func unread(...any) bool { return false }
