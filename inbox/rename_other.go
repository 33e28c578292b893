//go:build !linux && !darwin

package inbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// renameNoReplace checks for the name, then renames: see renameIfFree in rename_unix.go.
func renameNoReplace(from *os.File, name string, to *os.File, newName string) error {
	target := filepath.Join(to.Name(), newName)
	_, err := os.Lstat(target)
	if err == nil {
		return fs.ErrExist
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(filepath.Join(from.Name(), name), target)
}
