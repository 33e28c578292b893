//go:build unix

package journal

import (
	"cmp"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// folderLock is an open folder that is locked.
type folderLock struct{ *os.File }

// Close unlocks explicitly: a child process that is just being started shares the open folder until
// it calls exec, and would keep the lock.
func (l folderLock) Close() error {
	return errors.Join(unix.Flock(int(l.Fd()), unix.LOCK_UN), l.File.Close())
}

func (o osFolder) lock(name string) (io.Closer, error) {
	// Only a folder is opened: opening a pipe would block.
	if info, err := o.Stat(name); err != nil || !info.Folder {
		return nil, cmp.Or(err, error(&os.PathError{Op: "open", Path: name, Err: unix.ENOTDIR}))
	}
	dir, err := o.root.Open(name)
	if err != nil {
		return nil, err
	}
	for {
		switch err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case err == nil:
			return folderLock{dir}, nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return nil, errors.Join(ErrBusy, dir.Close())
		case errors.Is(err, unix.EBADF), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOLCK), errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.ENOSYS):
			return dir, nil // NFS cannot lock folders; some file systems have no locks
		default:
			return nil, errors.Join(&os.PathError{Op: "flock", Path: dir.Name(), Err: err}, dir.Close())
		}
	}
}
