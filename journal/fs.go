package journal

import "io"

// FS opens the folders that journals lie in. The zero Options use the operating
// system; a simulation hands in its own.
type FS interface {
	// OpenFolder opens an existing folder. Its error satisfies
	// errors.Is(err, fs.ErrNotExist) where there is none.
	OpenFolder(path string) (Folder, error)
}

// Folder is an open folder. Names are slash-separated paths below it; no name
// reaches outside, and none is followed through a symbolic link. Errors satisfy
// errors.Is with fs.ErrNotExist and fs.ErrExist where those apply, and with the
// system's own error (ENOSPC, EROFS, EIO) otherwise.
type Folder interface {
	// Open opens a regular file for reading.
	Open(name string) (File, error)
	// Append opens a regular file for reading and for writing at its end.
	Append(name string) (File, error)
	// Create makes a new file, mode 0600, that is written at its end. It fails
	// where the name is taken. The name is durable after SyncFolder.
	Create(name string) (File, error)
	// Mkdir makes a folder, mode 0700. A folder that is there already is no error.
	Mkdir(name string) error
	// List returns the names of what lies in the folder, sorted.
	List(name string) ([]string, error)
	// Stat tells what a name stands for.
	Stat(name string) (Info, error)
	// Rename moves a file, over another where the new name is taken. Another
	// process sees the one or the other, never none.
	Rename(from, to string) error
	// Remove removes a file.
	Remove(name string) error
	// SyncFolder makes what was created, renamed and removed in a folder durable.
	SyncFolder(name string) error
	Close() error
}

// Info says what a name stands for.
type Info struct {
	Size   int64
	Folder bool
}

// File is an open file. Write adds at the end and may be short only together
// with an error; what it wrote before that error stays in the file. Sync returns
// when everything written so far is durable; after an error nothing is known of
// any of it.
type File interface {
	io.ReaderAt
	io.Writer
	Size() (int64, error)
	Truncate(size int64) error
	Sync() error
	Close() error
}

// reserver is a File that can set room aside behind its end, which nobody sees but the
// disk. A file that grows by a sync at a time lies wherever there was room at each
// of them, and its file system writes the list of its pieces as well: a sync then takes a quarter
// longer. Both do what they can, and nothing where that is not known to help.
type reserver interface {
	reserve(bytes int64)
	// release gives back what lies behind the end.
	release()
}

// placed is a File that can report whether it is still what stands at the path that it was opened by,
// for whoever opens that path now. Another process may have removed or replaced it, or a folder above it.
type placed interface {
	// inPlace returns a *VanishedError where it is not.
	inPlace() error
}

// locker is a Folder that can keep other writers out of a folder below it. The lock ends with Close or with the
// process. Readers take none and are not held up.
type locker interface {
	// lock returns ErrBusy where another one holds the lock. On a file system without locks it returns
	// none and no error: the loop's own lock is then all that keeps others out.
	lock(name string) (io.Closer, error)
}

// starter is a File that can be told to begin writing a part of itself to the disk, without waiting
// and without a promise: that is Sync's.
type starter interface {
	startWriting(from, bytes int64)
}
