//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package attach

import (
	"os"

	"golang.org/x/sys/unix"
)

// inputQueue is FREAD of <fcntl.h>: the queue of what was typed.
const inputQueue = 1

// drainKeys discards typed input that was not read.
func drainKeys(tty *os.File) {
	_ = unix.IoctlSetPointerInt(int(tty.Fd()), unix.TIOCFLUSH, inputQueue)
}
