package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// WriteFile writes a file that a person named, and reports it on stderr. A file that exists stays
// as it is, and is an error, unless force is set; then the old content stays until the new one is
// complete. A file that cannot be completed is removed.
func (e *Env) WriteFile(name string, force bool, content func(io.Writer) error) error {
	path := e.Abs(name)
	if force {
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // a device would become a file
			return Refuse("choose another file, or - for stdout", "%s is no regular file", e.Short(path))
		}
		if err := replaceFile(path, content); err != nil {
			return err
		}
		Tell(e.Stderr, "wrote %s", e.Short(path))
		return nil
	}
	err := e.WriteNewFile(path, content)
	if errors.Is(err, fs.ErrExist) {
		return Refuse("choose another file, or add --force", "%s exists", e.Short(path))
	}
	return err
}

// WriteNewFile writes a new file, and reports it on stderr. The error is fs.ErrExist if it exists.
func (e *Env) WriteNewFile(path string, content func(io.Writer) error) error {
	err := createFile(path, content)
	if err == nil {
		Tell(e.Stderr, "wrote %s", e.Short(path))
	}
	return err
}

// Buffered writes content in large pieces.
func Buffered(w io.Writer, content func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, 64<<10)
	if err := content(b); err != nil {
		return err
	}
	return b.Flush()
}

// CheckFolderOf refuses a new file whose folder is missing.
func CheckFolderOf(path string) error {
	if info, err := os.Stat(filepath.Dir(path)); err == nil && info.IsDir() {
		return nil
	}
	return Refuse("make the folder first, or name another file", "there is no folder %s", filepath.Dir(path))
}

func createFile(path string, content func(io.Writer) error) error {
	if err := CheckFolderOf(path); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write the file: %w", err)
	}
	err = Buffered(file, content)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(path) // the error before it matters more
	}
	return err
}

func replaceFile(path string, content func(io.Writer) error) error {
	next := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d", filepath.Base(path), os.Getpid()))
	if err := createFile(next, content); err != nil {
		return err
	}
	if err := safefile.Move(next, path); err != nil {
		_ = os.Remove(next)
		return fmt.Errorf("write the file: %w", err)
	}
	return nil
}
