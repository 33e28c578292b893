package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Mount returns the folder on which the file system of a path is mounted; "" where that cannot be told. An entry
// has it, so that a loop on a disk that is not there now is not taken for one that was removed.
func Mount(path string) string {
	path = filepath.Clean(path)
	device, ok := deviceOf(path)
	for ok {
		parent := filepath.Dir(path)
		around, known := deviceOf(parent)
		if !known {
			return ""
		}
		if parent == path || around != device {
			return path
		}
		path = parent
	}
	return ""
}

// removed reports whether a loop whose folder is not there was removed with it: seen from the machine that entered it, and
// with its disk in its place. An entry without Mount, of an earlier version, is sure only where the project is there.
func (e Entry) removed() bool {
	if host, err := os.Hostname(); err != nil || e.Host != host {
		return false
	}
	if _, err := os.Lstat(e.Dir); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if e.Mount == "" {
		info, err := os.Stat(e.Project)
		return err == nil && info.IsDir()
	}
	return Mount(e.Mount) == e.Mount
}

// Prune takes the entries of loops out of the registry whose folders were removed, and returns them. Of loops on
// another machine, or on a disk that is not mounted, it keeps them. found is what [Survey] returned; what was entered again since
// stays.
func Prune(home string, found []Status) (pruned []Entry, err error) {
	for _, s := range found {
		if !s.Gone || s.Err != nil || !s.removed() {
			continue
		}
		path := filepath.Join(Folder(home), s.File)
		text, err := os.ReadFile(path)
		if err != nil {
			continue // somebody else was faster
		}
		now, err := decodeEntry(text)
		if err != nil || now.ID != s.ID || !now.Started.Equal(s.Started) || !now.removed() {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return pruned, fmt.Errorf("prune the registry: %w", err)
		}
		pruned = append(pruned, s.Entry)
	}
	return pruned, nil
}
