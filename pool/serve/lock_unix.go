//go:build unix

package serve

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// lock keeps other servers from the folder until it is closed. The kernel gives it back when the
// process dies.
func lock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the folder of the server: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = fmt.Errorf("another server runs in the folder %s: stop that one, or name another folder with --dir", dir)
		}
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
