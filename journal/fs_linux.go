package journal

import (
	"os"

	"golang.org/x/sys/unix"
)

// Sync leaves out the times of the file, which fsync would write as well.
func (f osFile) Sync() error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if err == nil {
			return nil
		}
		if err != unix.EINTR {
			return &os.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
		}
	}
}
