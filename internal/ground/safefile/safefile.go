package safefile

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// Folder is a folder in which files are written. Names are of files directly in it.
type Folder interface {
	// Create makes a new file, mode 0600. The error is fs.ErrExist if the name is taken.
	Create(name string) (File, error)
	// Mkdir makes a folder, mode 0700. The error is fs.ErrExist if the name is taken.
	Mkdir(name string) error
	// Rename moves a file, and replaces a file that has the new name.
	Rename(from, to string) error
	// Remove removes a file.
	Remove(name string) error
	// Sync makes what was created, renamed and removed durable, where the system can.
	Sync() error
}

// File is a file being written.
type File interface {
	io.WriteCloser
	Chmod(mode fs.FileMode) error
	Sync() error
}

// Fill writes content to a new file, makes it durable, and closes it.
func Fill(f File, content []byte) error {
	_, err := f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Replace gives a file this content and mode, in one step for other processes and for a loss of
// power. The new file is durable after folder.Sync. On an error nothing has changed.
func Replace(folder Folder, name string, content []byte, mode fs.FileMode) error {
	beside := temporary(name)
	f, err := folder.Create(beside)
	if err != nil {
		return err
	}
	if err = f.Chmod(mode); err == nil {
		err = Fill(f, content)
	} else {
		err = errors.Join(err, f.Close())
	}
	if err == nil {
		err = folder.Rename(beside, name)
	}
	if err != nil {
		return errors.Join(err, folder.Remove(beside))
	}
	return nil
}

// Mkdir makes a folder if it is missing. It is durable on return.
func Mkdir(parent Folder, name string) error {
	err := parent.Mkdir(name)
	if err == nil {
		err = parent.Sync()
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// mark is part of the names of files that are being written.
const mark = ".new-"

// mostStem leaves room for the rest of a temporary name in 255 bytes.
const mostStem = 220

func temporary(name string) string {
	return "." + units.Prefix(strings.TrimPrefix(name, "."), mostStem) + mark + rand.Text()
}

// Leftover returns the name of the file that a killed process left half written under this name;
// of a long one, the beginning.
func Leftover(name string) (of string, ok bool) {
	of, _, ok = strings.Cut(strings.TrimPrefix(name, "."), mark)
	return of, ok && strings.HasPrefix(name, ".")
}
