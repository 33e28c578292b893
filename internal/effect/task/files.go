package task

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// Names of the files in a loop's folder.
const (
	TaskFile    = "task.md"
	DoneFile    = "DONE"
	WaitFile    = "WAIT_WITHOUT_RESTART"
	ReflectFile = "reflect.md"
)

// MaxTask is the longest task.md, and the longest reflect.md, in bytes. A mebibyte is more than an
// agent can read at once, and its tree takes some 200 MB while the boxes are counted.
const MaxTask = 1 << 20

// FileError says that one of these files is too large or not a regular file.
type FileError struct{ Cause *safefile.Error }

func (e *FileError) Error() string { return e.Cause.Error() }
func (e *FileError) Unwrap() error { return e.Cause }

// Hint returns the next step.
func (e *FileError) Hint() string {
	path := e.Cause.Path
	if name := filepath.Base(path); name == DoneFile || name == WaitFile {
		return fmt.Sprintf("only a file counts as this marker: remove %s, or put a file in its place", path)
	}
	if e.Cause.Problem == safefile.TooLarge {
		return "move what is not about the next steps into files of the project, and shorten " + path
	}
	return fmt.Sprintf("put a regular file in the place of %s, or remove it", path)
}

// hinted makes a *FileError of an error of package safefile.
func hinted(err error) error {
	if cause, ok := errors.AsType[*safefile.Error](err); ok {
		return &FileError{cause}
	}
	return err
}

// read reads a file of at most MaxTask bytes.
func read(root *os.Root, name string) ([]byte, error) {
	content, err := safefile.ReadIn(root, name, MaxTask)
	return content, hinted(err)
}

// readStart reads the first bytes of a file.
func readStart(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := safefile.OpenIn(root, name)
	if err != nil {
		return nil, hinted(err)
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}
