//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package registry

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/gofrs/flock"
)

const openFlags = 0

// lockIsMandatory tells whether a lock keeps others from reading and writing the file. Where it does, run.lock holds no facts.
const lockIsMandatory = true

// reader is an open registry folder. os.Root keeps an entry's name, and a link that stands there, inside it.
type reader struct{ root *os.Root }

// openReader returns nil for a folder that is not there.
func openReader(dir string) (*reader, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &reader{root}, nil
}

func (r *reader) close() { r.root.Close() }

func (r *reader) names() ([]string, error) {
	dir, err := r.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	return entryNames(names), err
}

func (r *reader) entry(file string, buf []byte) (Entry, []byte, error) {
	info, err := r.root.Lstat(file)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: file, Err: errNotRegular}
	}
	if err != nil {
		return Entry{}, buf, err
	}
	f, err := r.root.Open(file)
	if err != nil {
		return Entry{}, buf, err
	}
	if buf, err = readAll(f, maxEntry); err != nil {
		return Entry{}, buf, err
	}
	e, err := decodeEntry(file, buf)
	return e, buf, err
}

func readFile(path string, buf []byte, limit int) ([]byte, error) {
	if err := refuseForeign(path); err != nil {
		return buf, err
	}
	f, err := os.Open(path)
	if err != nil {
		return buf, err
	}
	return readAll(f, limit)
}

func readAll(f *os.File, limit int) ([]byte, error) {
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, int64(limit)))
}

// probe asks for a shared lock, which the runner's exclusive one forbids and other probes' do not.
func probe(path string, buf []byte) (Liveness, error) {
	if err := refuseForeign(path); err != nil {
		return Liveness{}, err
	}
	l := flock.New(path, flock.SetFlag(os.O_RDONLY|openFlags))
	free, err := l.TryRLock()
	if errors.Is(err, fs.ErrNotExist) {
		return Liveness{}, nil
	}
	if err != nil {
		return Liveness{}, err
	}
	if free {
		defer l.Unlock()
	}
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return Liveness{Alive: !free}, nil
	}
	defer f.Close()
	n, err := io.ReadFull(f, buf[:cap(buf)])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		n = 0 // a mandatory lock forbids the reading too
	}
	return decodeHolder(!free, buf[:n]), nil
}
