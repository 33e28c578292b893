// Package journalfs is what a journal needs of a file system. Package journal implements it for the
// operating system, and internal/testkit/simfs for tests of crashes.
package journalfs

import "io"

// FS opens the folders of journals. The zero Options use the operating system; a simulation passes
// its own.
type FS interface {
	// OpenFolder opens an existing folder. Its error satisfies
	// errors.Is(err, fs.ErrNotExist) if there is none.
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
	// Create makes a new file, mode 0600, that is written at its end. It fails if the name is
	// taken. The name is durable after SyncFolder.
	Create(name string) (File, error)
	// Mkdir makes a folder, mode 0700. An existing folder is no error.
	Mkdir(name string) error
	// List returns the names in the folder, sorted.
	List(name string) ([]string, error)
	// Stat describes what a name refers to.
	Stat(name string) (Info, error)
	// Rename moves a file, and replaces a file that has the new name. Other processes see one of
	// the two under the new name, never none.
	Rename(from, to string) error
	// Remove removes a file.
	Remove(name string) error
	// SyncFolder makes creations, renames and removals in a folder durable.
	SyncFolder(name string) error
	Close() error
}

// Info describes what a name refers to.
type Info struct {
	Size   int64
	Folder bool
}

// File is an open file. Write appends. It may be short only with an error; the bytes that it wrote
// before the error stay in the file. Sync returns when everything written so far is durable; after
// an error, none of it may be durable.
type File interface {
	io.ReaderAt
	io.Writer
	Size() (int64, error)
	Truncate(size int64) error
	Sync() error
	Close() error
}
