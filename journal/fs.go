package journal

import (
	"errors"
	"io"
	"io/fs"
	"path"

	"github.com/ralph-loop/ralph/internal/ground/journalfs"
)

// The parts of a file system, see package journalfs.
type (
	fileSystem = journalfs.FS
	folder     = journalfs.Folder
	file       = journalfs.File
	fileInfo   = journalfs.Info
)

// reserver is a file that can reserve disk space after its end, which readers do not see. Without
// it a file that grows by one sync at a time becomes fragmented, and a sync takes a quarter longer
// on ext4 (DurableBatches in tools/bench). Both methods do nothing where no gain is known.
type reserver interface {
	reserve(bytes int64)
	// release frees the space after the end.
	release()
}

// placeChecker is a file that can check whether the path that it was opened by still leads to it.
// Another process may have removed or replaced the file or a folder above it.
type placeChecker interface {
	// inPlace returns a *VanishedError where it does not.
	inPlace() error
}

// locker is a folder that can exclude other writers from a folder below it. The lock ends with
// Close or with the process. Readers take no lock.
type locker interface {
	// lock returns ErrBusy if another writer has the lock. On a file system without locks it
	// returns neither a lock nor an error: the lock of the loop itself then has to suffice.
	lock(name string) (io.Closer, error)
}

// replaceFile puts a file in place, durably: a reader finds the old one or the complete new one.
// The temporary file may be left over from a crash.
func replaceFile(in folder, name string, fill func(file) error) error {
	tmp := name + tmpExt
	if err := in.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := writeFile(in, tmp, fill); err != nil {
		return err
	}
	if err := in.Rename(tmp, name); err != nil {
		return err
	}
	return in.SyncFolder(path.Dir(name))
}

// writeFile creates a file whose content is durable. Its name is durable after SyncFolder.
func writeFile(in folder, name string, fill func(file) error) error {
	f, err := in.Create(name)
	if err != nil {
		return err
	}
	err = fill(f)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// copyOf fills a file with a part of another one.
func copyOf(f file, from, to int64) func(file) error {
	return func(copied file) error {
		_, err := io.Copy(copied, io.NewSectionReader(f, from, to-from))
		return err
	}
}
