package runner

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// MaxPrompt is the longest prompt file in bytes.
const MaxPrompt = 16 << 20

// NotPromptError says why a file cannot be a prompt.
type NotPromptError struct {
	Path string
	Size int64 // of a file that is too long; else it is not a regular file
}

func (e *NotPromptError) Error() string {
	if e.Size > 0 {
		return fmt.Sprintf("%s has %d bytes, and a prompt may have %d", e.Path, e.Size, MaxPrompt)
	}
	return e.Path + " is not a regular file"
}

// CheckPrompt looks whether a file can be read as a prompt, without opening it: a pipe
// would be waited for, a device may act or never end. A link to a regular file is one.
func CheckPrompt(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &NotPromptError{Path: path}
	case info.Size() > MaxPrompt:
		return &NotPromptError{Path: path, Size: info.Size()}
	}
	return nil
}

// readFile reads a prompt file: a path within the project or an absolute one.
func (r *runner) readFile(name string) ([]byte, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(r.Project, name)
	}
	return readFile(name)
}

// readFile reads a file that is no longer than a prompt may be. It never waits: what was put in the file's
// place between the look and the opening is opened without blocking, and looked at again.
func readFile(name string) ([]byte, error) {
	if err := CheckPrompt(name); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &NotPromptError{Path: name}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxPrompt+1))
	if err == nil && len(text) > MaxPrompt {
		err = &NotPromptError{Path: name, Size: int64(len(text))}
	}
	return text, errors.Join(err, f.Close())
}
