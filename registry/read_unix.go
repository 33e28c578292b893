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
	buf, err := readOnce(r.fd, file, buf)
	if err != nil {
		return Entry{}, buf, err
	}
	e, ok := scanEntry(buf) // true only of a whole file
	if !ok {
		if buf, err = readAll(r.fd, file, buf, maxEntry); err != nil {
			return Entry{}, buf, err
		}
		if e, err = decodeEntry(buf); err != nil {
			return Entry{}, buf, err
		}
	}
	return e, buf, e.checkIn(file)
}

func readHeadBytes(path string, buf []byte) ([]byte, error) {
	return readOnce(unix.AT_FDCWD, path, buf)
}

func readState(path string, buf []byte) ([]byte, error) {
	return readAll(unix.AT_FDCWD, path, buf, maxState)
}

// readOnce reads what one read(2) gives into buf's capacity: the beginning of the file.
func readOnce(dirfd int, path string, buf []byte) ([]byte, error) {
	fd, err := open(dirfd, path)
	if err != nil {
		return buf[:0], err
	}
	defer unix.Close(fd)
	n, err := read(fd, buf[:cap(buf)])
	if err != nil {
		return buf[:0], &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return buf[:n], nil
}

// readAll reads the first limit bytes of a file, growing buf where it must.
func readAll(dirfd int, path string, buf []byte, limit int) ([]byte, error) {
	fd, err := open(dirfd, path)
	if err != nil {
		return buf[:0], err
	}
	defer unix.Close(fd)
	for buf = buf[:0]; len(buf) < limit; {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, min(limit-len(buf), 64<<10))
		}
		n, err := read(fd, buf[len(buf):min(cap(buf), limit)])
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

func read(fd int, b []byte) (int, error) {
	for {
		n, err := unix.Read(fd, b)
		if !errors.Is(err, unix.EINTR) {
			return max(n, 0), err
		}
	}
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

// lockProbe is an open run.lock that can be asked again.
type lockProbe struct {
	path string
	fd   int // -1: there is no file, so nobody holds it
	size int64
}

func openProbe(path string) (lockProbe, error) {
	fd, err := open(unix.AT_FDCWD, path)
	if errors.Is(err, fs.ErrNotExist) {
		return lockProbe{fd: -1}, nil
	}
	if err != nil {
		return lockProbe{}, err
	}
	var stat unix.Stat_t
	err = unix.Fstat(fd, &stat)
	if err == nil && stat.Mode&unix.S_IFMT != unix.S_IFREG {
		err = errNotRegular
	}
	if err != nil {
		unix.Close(fd)
		return lockProbe{}, &fs.PathError{Op: "lock", Path: path, Err: err}
	}
	return lockProbe{path, fd, stat.Size}, nil
}

func (p lockProbe) close() {
	if p.fd >= 0 {
		unix.Close(p.fd)
	}
}

// alive asks for a shared lock, which the runner's exclusive one forbids and other probes' do not, and gives it back at once: a runner
// that wants the lock waits no longer than lockTries*lockPause.
func (p lockProbe) alive() (bool, error) {
	if p.fd < 0 {
		return false, nil
	}
	err := unix.Flock(p.fd, unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	if err == nil {
		err = unix.Flock(p.fd, unix.LOCK_UN)
	}
	if err != nil {
		return false, &fs.PathError{Op: "lock", Path: p.path, Err: err}
	}
	return false, nil
}

// facts reads what the holder wrote.
func (p lockProbe) facts(buf []byte) []byte {
	if p.fd < 0 || p.size == 0 {
		return nil
	}
	n, err := unix.Pread(p.fd, buf[:cap(buf)], 0)
	if err != nil {
		return nil
	}
	return buf[:n]
}
