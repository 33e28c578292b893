//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// inputQueue is FREAD of <fcntl.h>: the queue of what was typed.
const inputQueue = 1

// drainKeys throws away what was typed on a terminal and nobody has read.
func drainKeys(tty *os.File) {
	_ = unix.IoctlSetPointerInt(int(tty.Fd()), unix.TIOCFLUSH, inputQueue)
}
