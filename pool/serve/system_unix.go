//go:build linux || darwin

package serve

import (
	"errors"
	"fmt"
	"io/fs"
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
			err = fmt.Errorf("%w %s: stop that one, or name another folder with --dir; --lines prints its join lines", ErrRuns, dir)
		}
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// limit is how many bytes the server may store: what it has stored, and nine tenths of what is
// free. NATS itself takes three quarters of what is free, which is less after each restart.
func limit(dir string) (int64, error) {
	var disk unix.Statfs_t
	if err := unix.Statfs(dir, &disk); err != nil {
		return 0, fmt.Errorf("look up the disk of %s: %w", dir, err)
	}
	stored := int64(0)
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			stored += info.Size()
		}
		return err
	})
	return stored + int64(disk.Bavail)/10*9*int64(disk.Bsize), err //nolint:unconvert // differs by system
}
