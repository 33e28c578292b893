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
	e, err := decodeEntry(buf)
	if err != nil {
		return Entry{}, buf, err
	}
	return e, buf, e.checkIn(file)
}

func readHeadBytes(path string, _ []byte) ([]byte, error) { return readFile(path, firstRead) }

func readState(path string, _ []byte) ([]byte, error) { return readFile(path, maxState) }

func readFile(path string, limit int) ([]byte, error) {
	if err := refuseForeign(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return readAll(f, limit)
}

func readAll(f *os.File, limit int) ([]byte, error) {
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, int64(limit)))
}

// lockProbe is a run.lock that can be asked again. The zero value, of a missing file, is never alive.
type lockProbe struct{ path string }

func openProbe(path string) (lockProbe, error) {
	if err := refuseForeign(path); err != nil {
		return lockProbe{}, err
	}
	return lockProbe{path}, nil
}

func (p lockProbe) close() {}

// alive asks for a shared lock, which the runner's exclusive one forbids and other probes' do not, and gives it back at once.
func (p lockProbe) alive() (bool, error) {
	l := flock.New(p.path, flock.SetFlag(os.O_RDONLY))
	free, err := l.TryRLock()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return !free, l.Unlock()
}

// facts reads what the holder wrote, where its lock lets others read.
func (p lockProbe) facts([]byte) []byte {
	b, err := readFile(p.path, firstRead)
	if err != nil {
		return nil
	}
	return b
}
