package task

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// MaxMarkText is how many bytes of a marker's text are reported.
const MaxMarkText = 1024

// Marks are what an agent left in the loop's folder.
type Marks struct {
	Done     bool   // DONE is there
	DoneText string // how it begins: valid UTF-8, at most MaxMarkText bytes
	Wait     bool   // WAIT_WITHOUT_RESTART is there
	WaitText string // how it begins, likewise

	Boxes      Boxes
	TaskSHA256 string // of task.md, in lower-case hexadecimal; empty without one
}

// ReadMarks reads the marks in a loop's folder. A missing file is no error. If one of them cannot
// be read, the others are returned with the error, a [FileError] if the agent left something other
// than such a file.
func ReadMarks(loopDir string) (Marks, error) {
	root, err := os.OpenRoot(loopDir)
	if err != nil {
		return Marks{}, fmt.Errorf("open the loop's folder: %w", err)
	}
	defer root.Close()
	var m Marks
	var done, wait, work error
	m.Done, m.DoneText, done = mark(root, DoneFile)
	m.Wait, m.WaitText, wait = mark(root, WaitFile)
	work = m.task(root)
	return m, errors.Join(done, wait, work)
}

func mark(root *os.Root, name string) (found bool, words string, err error) {
	content, err := readStart(root, name, MaxMarkText+1)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, "", nil
	case err != nil:
		return false, "", fmt.Errorf("read %s: %w", name, err)
	}
	return true, clip(bytes.TrimSpace(content), MaxMarkText), nil
}

func (m *Marks) task(root *os.Root) error {
	content, err := read(root, TaskFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("read the task: %w", err)
	}
	sum := sha256.Sum256(content)
	m.Boxes, m.TaskSHA256 = Checklist(content), hex.EncodeToString(sum[:])
	return nil
}

// RemoveWait removes the wait marker, as a person does who resumes the loop. It is no error if
// there is none. Any file in its place is removed unread; a folder is a [FileError]. The removal is
// durable when the file system next syncs: after a loss of power the marker may exist again.
func RemoveWait(loopDir string) error { return remove(loopDir, WaitFile) }

// RemoveDone removes the mark of done work when a loop continues. It works like [RemoveWait].
func RemoveDone(loopDir string) error { return remove(loopDir, DoneFile) }

func remove(loopDir, name string) error {
	root, err := os.OpenRoot(loopDir)
	if err != nil {
		return fmt.Errorf("remove %s: %w", name, err)
	}
	defer root.Close()
	info, err := root.Lstat(name)
	if err == nil && info.IsDir() {
		err = hinted(&safefile.Error{Path: filepath.Join(loopDir, name), Problem: safefile.IsFolder})
	}
	if err == nil {
		err = root.Remove(name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", name, err)
	}
	return nil
}
