package simfs

import (
	"errors"
	"io/fs"

	"github.com/ralph-loop/ralph/internal/ground/journalfs"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// Folder opens a folder for files that are replaced atomically. The folder must exist: see
// MkdirAll.
func (f *FS) Folder(name string) (safefile.Folder, error) {
	opened, err := f.OpenFolder(name)
	return safeFolder{opened}, err
}

type safeFolder struct{ journalfs.Folder }

func (s safeFolder) Create(name string) (safefile.File, error) {
	f, err := s.Folder.Create(name)
	return safeFile{f}, err
}

func (s safeFolder) Mkdir(name string) error {
	if _, err := s.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, fs.ErrExist)
	}
	return s.Folder.Mkdir(name)
}

func (s safeFolder) Sync() error { return s.SyncFolder(".") }

type safeFile struct{ journalfs.File }

// Chmod does nothing: there are no modes here.
func (safeFile) Chmod(fs.FileMode) error { return nil }
