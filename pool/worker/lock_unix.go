//go:build unix

package worker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// lock makes sure that one worker uses a home. The kernel gives the lock back when it dies.
func lock(home string) (unlock func(), err error) {
	path := filepath.Join(home, "pool", "worker.lock")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("begin to work: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("begin to work: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = errors.New("another worker runs here: give it more loops with -n instead")
		}
		return nil, errors.Join(err, f.Close())
	}
	return func() { f.Close() }, nil
}
