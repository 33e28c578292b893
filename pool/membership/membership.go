// Package membership reads pool.json in a loop's folder: under which epoch this host has the loop.
package membership

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// most bounds a file that an agent may have written, in bytes.
const most = 64 << 10

// A Membership says that the loop takes part in the pool.
type Membership struct {
	Epoch uint64 `json:"epoch"`
	Host  string `json:"host"`
	From  string `json:"from,omitempty"`
	Loop  string `json:"loop,omitempty"` // its ID in the pool; empty for the one of its journal
}

// File is its path.
func File(folder string) string { return filepath.Join(folder, "pool.json") }

// Read returns the zero Membership for a loop that does not take part in a pool.
func Read(folder string) (m Membership, err error) {
	text, err := ReadRegular(File(folder), most)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		err = fmt.Errorf("read under which epoch this host has the loop: %w", err)
	}
	return m, err
}

// ReadRegular reads a file of a loop's folder, where an agent can put anything. A link, a pipe and
// a file that is too long are errors.
func ReadRegular(path string, most int64) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fmt.Errorf("%s is no regular file of at most %d bytes", path, most)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a pipe
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		return nil, fmt.Errorf("%s was replaced while it was opened", path)
	}
	return io.ReadAll(io.LimitReader(f, most))
}
