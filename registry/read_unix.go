//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package registry

import (
	"errors"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// A survey of ten thousand loops opens thirty thousand files, so this file speaks to the kernel directly: no *os.File, no poller, no
// finalizer, and the caller's buffer for every read. read_other.go does the same through package os.

// openFlags: no symbolic link at the name itself, and no waiting for the other end of a FIFO.
const openFlags = unix.O_NOFOLLOW | unix.O_NONBLOCK

// lockIsMandatory tells whether a lock keeps others from reading and writing the file.
const lockIsMandatory = false

// reader is an open registry folder.
type reader struct {
	dir *os.File
	fd  int // dir's
}

// openReader returns nil for a folder that is not there.
func openReader(dir string) (*reader, error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &reader{f, int(f.Fd())}, nil
}

func (r *reader) close() { r.dir.Close() }

func (r *reader) names() ([]string, error) {
	names, err := r.dir.Readdirnames(-1)
	return entryNames(names), err
}

func (r *reader) entry(file string, buf []byte) (Entry, []byte, error) {
	buf, err := readAt(r.fd, file, buf, maxEntry)
	if err != nil {
		return Entry{}, buf, err
	}
	e, err := decodeEntry(file, buf)
	return e, buf, err
}

func readFile(path string, buf []byte, limit int) ([]byte, error) {
	return readAt(unix.AT_FDCWD, path, buf, limit)
}

// readAt reads the first limit bytes of a regular file into buf, growing it only where the file is longer than it.
func readAt(dirfd int, path string, buf []byte, limit int) ([]byte, error) {
	fd, err := open(dirfd, path)
	if err != nil {
		return buf[:0], err
	}
	defer unix.Close(fd)
	for buf = buf[:0]; len(buf) < limit; {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, min(limit-len(buf), 64<<10))
		}
		n, err := unix.Read(fd, buf[len(buf):min(cap(buf), limit)])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return buf[:0], &fs.PathError{Op: "read", Path: path, Err: err}
		}
		if n == 0 {
			break
		}
		buf = buf[:len(buf)+n]
	}
	return buf, nil
}

// open opens for reading. Links fail here; a folder or a socket fails in what follows, and a FIFO without writer reads as empty.
func open(dirfd int, path string) (int, error) {
	for {
		fd, err := unix.Openat(dirfd, path, unix.O_RDONLY|unix.O_CLOEXEC|openFlags, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return -1, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		return fd, nil
	}
}

// probe asks for a shared lock, which the runner's exclusive one forbids and other probes' do not, and gives it back by closing.
func probe(path string, buf []byte) (Liveness, error) {
	fd, err := open(unix.AT_FDCWD, path)
	if errors.Is(err, fs.ErrNotExist) {
		return Liveness{}, nil
	}
	if err != nil {
		return Liveness{}, err
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return Liveness{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return Liveness{}, &fs.PathError{Op: "lock", Path: path, Err: errNotRegular}
	}
	err = unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB)
	alive := errors.Is(err, unix.EWOULDBLOCK)
	if err != nil && !alive {
		return Liveness{}, &fs.PathError{Op: "lock", Path: path, Err: err}
	}
	if stat.Size == 0 {
		return Liveness{Alive: alive}, nil
	}
	n, err := unix.Pread(fd, buf[:cap(buf)], 0)
	if err != nil {
		return Liveness{}, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return decodeHolder(alive, buf[:n]), nil
}
