package task

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Names of the files in a loop's folder.
const (
	TaskFile    = "task.md"
	DoneFile    = "DONE"
	WaitFile    = "WAIT_WITHOUT_RESTART"
	ReflectFile = "reflect.md"
)

// MaxTask is the longest task.md, and the longest reflect.md, in bytes. A mebibyte is more than an agent
// can read at once, and its tree takes some 200 MB while the boxes are counted.
const MaxTask = 1 << 20

// NotFileError says that something else than a regular file stands in the place of one.
type NotFileError struct {
	Path string
	Mode fs.FileMode // its type bits say what it is
}

func (e *NotFileError) Error() string {
	kind := "not a regular file"
	switch e.Mode.Type() {
	case fs.ModeDir:
		kind = "a folder"
	case fs.ModeSymlink:
		kind = "a symbolic link"
	case fs.ModeNamedPipe:
		kind = "a named pipe"
	case fs.ModeSocket:
		kind = "a socket"
	}
	return fmt.Sprintf("%s is %s", e.Path, kind)
}

// Hint returns the next step.
func (e *NotFileError) Hint() string {
	switch filepath.Base(e.Path) {
	case DoneFile, WaitFile:
		return fmt.Sprintf("only a file counts as this marker: remove %s, or put a file in its place", e.Path)
	}
	return fmt.Sprintf("put a regular file in the place of %s, or remove it", e.Path)
}

// TooBigError says that a file is longer than it may be.
type TooBigError struct {
	Path  string
	Limit int64 // bytes
}

func (e *TooBigError) Error() string {
	return fmt.Sprintf("%s has more than %d bytes", e.Path, e.Limit)
}

// Hint returns the next step.
func (e *TooBigError) Hint() string {
	return "move what is not about the next steps into files of the project, and shorten " + e.Path
}

// open opens a regular file. What stands there is looked at first: os.Root would follow
// a link that stays within the folder. What was put in its place between the look and
// the opening is opened without waiting, and refused.
func open(root *os.Root, name string, flag int) (*os.File, fs.FileInfo, error) {
	want, err := root.Lstat(name)
	if err == nil && !want.Mode().IsRegular() {
		err = &NotFileError{path(root, name), want.Mode()}
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := root.OpenFile(name, flag|nonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	have, err := f.Stat()
	if err == nil && !os.SameFile(want, have) {
		err = fmt.Errorf("%s was replaced while it was being opened", path(root, name))
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, have, nil
}

// whole reads a file of at most MaxTask bytes.
func whole(root *os.Root, name string) ([]byte, error) {
	content, err := beginning(root, name, MaxTask+1)
	if err == nil && len(content) > MaxTask {
		err = &TooBigError{path(root, name), MaxTask}
	}
	return content, err
}

// beginning reads the first bytes of a file.
func beginning(root *os.Root, name string, limit int64) ([]byte, error) {
	f, _, err := open(root, name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

func path(root *os.Root, name string) string { return filepath.Join(root.Name(), name) }
