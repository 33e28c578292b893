package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/natefinch/atomic"
)

// Dir is the folder at a path.
func Dir(path string) Folder { return dir(path) }

type dir string

func (d dir) at(name string) string { return filepath.Join(string(d), name) }

func (d dir) Create(name string) (File, error) {
	return created(os.OpenFile(d.at(name), newFile, 0o600))
}
func (d dir) Mkdir(name string) error  { return os.Mkdir(d.at(name), 0o700) }
func (d dir) Remove(name string) error { return os.Remove(d.at(name)) }
func (d dir) Sync() error              { return synced(os.Open(string(d))) }

// Rename is the system's on Unix. On Windows the new name is on the disk on return, where Sync does
// nothing.
func (d dir) Rename(from, to string) error { return atomic.ReplaceFile(d.at(from), d.at(to)) }

// Within is an open folder, also after its path was moved or removed.
func Within(root *os.Root) Folder { return within{root} }

type within struct{ *os.Root }

func (w within) Create(name string) (File, error) { return created(w.OpenFile(name, newFile, 0o600)) }
func (w within) Mkdir(name string) error          { return w.Root.Mkdir(name, 0o700) }
func (w within) Sync() error                      { return synced(w.Open(".")) }

const newFile = os.O_WRONLY | os.O_CREATE | os.O_EXCL

func created(f *os.File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

// SyncFolder makes the names in a folder durable, where the file system can.
func SyncFolder(path string) error { return synced(os.Open(path)) }

// SyncFolderIn is SyncFolder of a name in a folder.
func SyncFolderIn(root *os.Root, name string) error { return synced(root.Open(name)) }

// synced makes the names in an open folder durable, and closes it. Some file systems (of
// containers, of networks) return EINVAL, which is ignored: there is no other way.
func synced(folder *os.File, err error) error {
	if err == nil {
		err = errors.Join(syncNames(folder), folder.Close())
	}
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// syncedFolder is called with the path of each folder that is synced. It is nil outside of tests,
// which check the order with it.
var syncedFolder func(path string)

// WriteFile replaces the file at path by one with this content and mode, as [Replace] does. The
// folder must exist. A link in its place is not followed, since the file would be written
// elsewhere.
func WriteFile(path string, content []byte, mode fs.FileMode) error {
	folder := filepath.Dir(path)
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &fs.PathError{Op: "open", Path: folder, Err: syscall.ENOTDIR}
	}
	return Replace(Dir(folder), filepath.Base(path), content, mode)
}

// Move renames a file or a folder, from one folder to another. It is durable on return: if the old
// name is used again, a loss of power cannot lose what was moved.
func Move(from, to string) error {
	if err := atomic.ReplaceFile(from, to); err != nil {
		return err
	}
	return errors.Join(SyncFolder(filepath.Dir(to)), SyncFolder(filepath.Dir(from)))
}
