//go:build unix

package journal_test

import (
	"os"
	"syscall"
)

// bareWrite is the system call and nothing around it.
func bareWrite(f *os.File, p []byte) error {
	_, err := syscall.Write(int(f.Fd()), p)
	return err
}
