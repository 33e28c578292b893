package safefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// Problem says what is wrong with a file, as the end of a sentence that begins with its path.
type Problem string

// The problems of files.
const (
	IsFolder   Problem = "is a folder"
	IsLink     Problem = "is a symbolic link"
	IsPipe     Problem = "is a named pipe"
	IsSocket   Problem = "is a socket"
	NotRegular Problem = "is not a regular file" // a device, or another kind of file
	Replaced   Problem = "was replaced while it was being opened"
	TooLarge   Problem = "is too large"
)

// Error names a file that is not used, and the reason.
type Error struct {
	Path    string
	Problem Problem
	Limit   int64 // in bytes; set only for TooLarge
}

func (e *Error) Error() string { return e.Path + " " + e.Reason() }

// Reason returns the message without the path.
func (e *Error) Reason() string {
	if e.Problem == TooLarge {
		return fmt.Sprintf("is larger than %d bytes", e.Limit)
	}
	return string(e.Problem)
}

// CheckLinked returns an *Error unless [ReadLinked] would read the file. It does not open it.
func CheckLinked(path string, limit int64) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if problem := problemOf(info.Mode()); problem != "" {
		return &Error{Path: path, Problem: problem}
	}
	if info.Size() > limit {
		return &Error{Path: path, Problem: TooLarge, Limit: limit}
	}
	return nil
}

func problemOf(mode fs.FileMode) Problem {
	switch mode.Type() {
	case 0:
		return ""
	case fs.ModeDir:
		return IsFolder
	case fs.ModeSymlink:
		return IsLink
	case fs.ModeNamedPipe:
		return IsPipe
	case fs.ModeSocket:
		return IsSocket
	}
	return NotRegular
}

// Open opens a regular file for reading. It does not follow a link at the path's end, and never
// waits for the other end of a pipe. Anything but a regular file is an *Error and is not opened:
// opening some devices has an effect.
func Open(path string) (*os.File, error) { return OpenFile(path, os.O_RDONLY, 0) }

// OpenIn is Open of a name in a folder.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	return OpenFileIn(root, name, os.O_RDONLY, 0)
}

// OpenFile is Open with the flags and the mode of [os.OpenFile]. With os.O_CREATE a missing file is
// made.
func OpenFile(path string, flag int, mode fs.FileMode) (*os.File, error) {
	return opened(path, flag,
		func() (fs.FileInfo, error) { return os.Lstat(path) },
		func() (*os.File, error) { return os.OpenFile(path, flag|noWait|noFollow, mode) })
}

// OpenFileIn is OpenFile of a name in a folder.
func OpenFileIn(root *os.Root, name string, flag int, mode fs.FileMode) (*os.File, error) {
	return opened(filepath.Join(root.Name(), name), flag,
		func() (fs.FileInfo, error) { return root.Lstat(name) },
		func() (*os.File, error) { return root.OpenFile(name, flag|noWait, mode) })
}

// FolderIn opens a folder in another one, but no link: os.Root would follow one that stays within
// it.
func FolderIn(parent *os.Root, name string) (*os.Root, error) {
	want, err := parent.Lstat(name)
	if err == nil && !want.IsDir() {
		err = &fs.PathError{Op: "open", Path: filepath.Join(parent.Name(), name), Err: syscall.ENOTDIR}
	}
	if err != nil {
		return nil, err
	}
	root, err := parent.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	have, err := root.Stat(".")
	if err == nil && !os.SameFile(want, have) {
		err = &Error{Path: root.Name(), Problem: Replaced}
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// OpenLinked is OpenFile of a file to which a link may lead.
func OpenLinked(path string, flag int, mode fs.FileMode) (*os.File, error) {
	return opened(path, flag,
		func() (fs.FileInfo, error) { return os.Stat(path) },
		func() (*os.File, error) { return os.OpenFile(path, flag|noWait, mode) })
}

// replacements is how many times in a row a file may be replaced while it is opened. Writers
// replace files such as state.json a few times a second.
const replacements = 100

// opened opens a file, and makes sure that it is the file that stat inspected. It tries again after
// a replacement.
func opened(path string, flag int, stat func() (fs.FileInfo, error), open func() (*os.File, error)) (*os.File, error) {
	for range replacements {
		f, err := openOnce(path, flag, stat, open)
		if wrong, ok := errors.AsType[*Error](err); !ok || wrong.Problem != Replaced {
			return f, err
		}
	}
	return nil, &Error{Path: path, Problem: Replaced}
}

func openOnce(path string, flag int, stat func() (fs.FileInfo, error), open func() (*os.File, error)) (*os.File, error) {
	info, err := stat()
	created := flag&os.O_CREATE != 0 && errors.Is(err, fs.ErrNotExist)
	if err != nil && !created {
		return nil, err
	}
	if err == nil && !info.Mode().IsRegular() {
		return nil, &Error{Path: path, Problem: problemOf(info.Mode())}
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	have, err := f.Stat()
	switch {
	case err != nil:
	case !have.Mode().IsRegular():
		err = &Error{Path: path, Problem: problemOf(have.Mode())}
	case !created && !os.SameFile(info, have):
		err = &Error{Path: path, Problem: Replaced}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// AppendLine adds a line to a file that was opened with os.O_RDWR and os.O_APPEND, in one write, so
// that processes do not mix theirs, and closes it. It begins a new line where the file ends without
// one: a full disk or a loss of power may have cut the last line off.
func AppendLine(f *os.File, line []byte) error {
	last := []byte{'\n'}
	_, err := f.Seek(-1, io.SeekEnd)
	if err == nil { // else it is empty
		_, err = f.Read(last)
	}
	if line = append(slices.Clip(line), '\n'); err == nil && last[0] != '\n' {
		line = append([]byte{'\n'}, line...)
	}
	_, err = f.Write(line)
	return errors.Join(err, f.Close())
}

// Read returns the content of the file that [Open] opens. More than limit bytes are an *Error.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, limit)
}

// ReadIn is Read of a name in a folder.
func ReadIn(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := OpenIn(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, limit)
}

// ReadLinked is Read of a file to which a link may lead.
func ReadLinked(path string, limit int64) ([]byte, error) {
	f, err := OpenLinked(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, limit)
}

// ReadAll returns the rest of an open file. More than limit bytes are an *Error.
func ReadAll(f *os.File, limit int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, &Error{Path: f.Name(), Problem: TooLarge, Limit: limit}
	}
	content := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	if _, err := content.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return nil, err
	}
	if int64(content.Len()) > limit { // it grew while it was read
		return nil, &Error{Path: f.Name(), Problem: TooLarge, Limit: limit}
	}
	return content.Bytes(), nil
}
