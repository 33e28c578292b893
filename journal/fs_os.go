package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
)

type osFS struct{}

func (osFS) OpenFolder(path string) (Folder, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return osFolder{root}, nil
}

// osFolder confines names through os.Root, which follows links that stay inside.
// A loop's folder has no links at all, so each name is looked at first: what is
// not a plain file was put there by somebody else.
type osFolder struct{ root *os.Root }

func (o osFolder) Open(name string) (File, error) {
	return o.open(name, os.O_RDONLY)
}

func (o osFolder) Append(name string) (File, error) {
	return o.open(name, os.O_RDWR|os.O_APPEND)
}

func (o osFolder) Create(name string) (File, error) {
	f, err := o.root.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (o osFolder) open(name string, flag int) (File, error) {
	if _, err := o.regular(name); err != nil {
		return nil, err
	}
	f, err := o.root.OpenFile(name, flag, 0)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (o osFolder) regular(name string) (fs.FileInfo, error) {
	info, err := o.root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("%w: %s", errNotPlain, info.Mode().Type())}
	}
	return info, err
}

var errNotPlain = errors.New("neither a plain file nor a folder")

func (o osFolder) Mkdir(name string) error {
	err := o.root.Mkdir(name, 0o700)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := o.Stat(name)
	if err == nil && !info.Folder {
		err = &fs.PathError{Op: "mkdir", Path: name, Err: syscall.ENOTDIR}
	}
	return err
}

func (o osFolder) List(name string) ([]string, error) {
	info, err := o.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Folder {
		return nil, &fs.PathError{Op: "list", Path: name, Err: syscall.ENOTDIR}
	}
	dir, err := o.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

func (o osFolder) Stat(name string) (Info, error) {
	info, err := o.root.Lstat(name)
	if err != nil {
		return Info{}, err
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return Info{}, &fs.PathError{Op: "stat", Path: name, Err: fmt.Errorf("%w: %s", errNotPlain, info.Mode().Type())}
	}
	return Info{Size: info.Size(), Folder: info.IsDir()}, nil
}

func (o osFolder) Rename(from, to string) error { return o.root.Rename(from, to) }
func (o osFolder) Remove(name string) error     { return o.root.Remove(name) }
func (o osFolder) Close() error                 { return o.root.Close() }

type osFile struct{ *os.File }

func (f osFile) inPlace() error {
	have, err := f.Stat()
	if err != nil {
		return err
	}
	there, err := os.Lstat(f.Name())
	if err == nil && os.SameFile(have, there) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return err
	}
	return &VanishedError{Path: f.Name()}
}

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
