package attach

import (
	"os"

	"golang.org/x/sys/unix"
)

// drainKeys discards typed input that was not read.
func drainKeys(tty *os.File) { _ = unix.IoctlSetInt(int(tty.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
