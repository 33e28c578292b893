package inbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Folder names in a loop's folder.
const (
	folder         = "inbox"
	rejectedFolder = "rejected"
)

// dir is an open folder of an inbox. Names are resolved in it alone, whatever becomes of its path; every operation opens it anew, since it may
// vanish and come back.
type dir struct {
	root   *os.Root
	handle *os.File // the same folder, for what os.Root cannot do: rename without replacing, sync
}

func openDir(loopDir string) (*dir, error) {
	loop, err := os.OpenRoot(loopDir)
	if err != nil {
		return nil, err
	}
	defer loop.Close()
	return openWithin(loop, folder)
}

// makeDir is openDir, and makes the inbox if it is missing.
func makeDir(loopDir string) (*dir, error) {
	loop, err := os.OpenRoot(loopDir)
	if err != nil {
		return nil, err
	}
	defer loop.Close()
	return makeWithin(loop, folder)
}

func makeWithin(parent *os.Root, name string) (*dir, error) {
	if err := parent.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return openWithin(parent, name)
}

// openWithin opens a folder that must itself stand there. os.Root would follow a link that stays within the parent.
func openWithin(parent *os.Root, name string) (*dir, error) {
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
	handle, err := root.Open(".")
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	d := &dir{root, handle}
	have, err := handle.Stat()
	if err == nil && !os.SameFile(want, have) {
		err = fmt.Errorf("%s was replaced while it was being opened", root.Name())
	}
	if err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

func (d *dir) close() {
	d.handle.Close()
	d.root.Close()
}

// sync makes the names in the folder durable, where the system can.
func (d *dir) sync() error {
	err := d.handle.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) || !canSyncFolders {
		return nil
	}
	return err
}

// moveTo renames name in d to newName in to, and is fs.ErrExist if that name is taken.
func (d *dir) moveTo(name string, to *dir, newName string) error {
	if err := renameNoReplace(d.handle, name, to.handle, newName); err != nil {
		return &os.LinkError{Op: "rename", Old: name, New: filepath.Join(to.root.Name(), newName), Err: err}
	}
	return nil
}
