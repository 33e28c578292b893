package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

type osFS struct{}

// orOS returns the operating system in place of nil.
func orOS(fsys fileSystem) fileSystem {
	if fsys == nil {
		return osFS{}
	}
	return fsys
}

func (osFS) OpenFolder(path string) (folder, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return osFolder{root}, nil
}

// osFolder confines names through os.Root, which follows links that stay inside. ralph creates only
// plain files and folders, so each name is checked first: anything else is from another program.
type osFolder struct{ root *os.Root }

func (o osFolder) Open(name string) (file, error) {
	return o.open(name, os.O_RDONLY)
}

func (o osFolder) Append(name string) (file, error) {
	return o.open(name, os.O_RDWR|os.O_APPEND)
}

func (o osFolder) Create(name string) (file, error) {
	f, err := o.root.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (o osFolder) open(name string, flag int) (file, error) {
	f, err := safefile.OpenFileIn(o.root, name, flag, 0)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
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

func (o osFolder) Stat(name string) (fileInfo, error) {
	info, err := o.root.Lstat(name)
	if err != nil {
		return fileInfo{}, err
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return fileInfo{}, &fs.PathError{Op: "stat", Path: name, Err: fmt.Errorf("%w: %s", errNotPlain, info.Mode().Type())}
	}
	return fileInfo{Size: info.Size(), Folder: info.IsDir()}, nil
}

func (o osFolder) Rename(from, to string) error { return o.root.Rename(from, to) }
func (o osFolder) Remove(name string) error     { return o.root.Remove(name) }
func (o osFolder) Close() error                 { return o.root.Close() }

func (o osFolder) SyncFolder(name string) error { return safefile.SyncFolderIn(o.root, name) }

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
