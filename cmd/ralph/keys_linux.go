package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// drainKeys throws away what was typed on a terminal and nobody has read.
func drainKeys(tty *os.File) { _ = unix.IoctlSetInt(int(tty.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
