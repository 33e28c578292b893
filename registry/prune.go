package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// mount returns the folder on which the file system of a path is mounted; "" if it is unknown. An
// entry contains it, so that a loop on a disk that is not mounted does not count as removed.
func mount(path string) string {
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

// removed reports whether a loop was removed with its folder: the folder is missing on the machine
// that wrote the entry, while its disk is mounted. If the entry does not say where the disk is
// mounted, the project's folder must exist.
func removed(e Entry) bool {
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
	return mount(e.Mount) == e.Mount
}

// Prune removes the entries of loops whose folders were removed, and returns them. It keeps the
// entries of loops on another machine or on a disk that is not mounted. found is the result of
// [Survey]; an entry that was replaced since stays.
func Prune(home string, found []Status) (pruned []Entry, err error) {
	for _, s := range found {
		if !s.Gone || s.Err != nil || !removed(s.Entry) {
			continue
		}
		path := filepath.Join(Folder(home), s.File)
		now, err := ReadEntry(path)
		if err != nil || now.ID != s.ID || !now.Started.Equal(s.Started) || !removed(now) {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return pruned, fmt.Errorf("prune the registry: %w", err)
		}
		pruned = append(pruned, s.Entry)
	}
	return pruned, nil
}
