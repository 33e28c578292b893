// Package filelock takes advisory locks on open files. No call waits for a lock.
//
//	ok, err := filelock.TryExclusive(f) // false: another open file has a lock
//
// A lock belongs to the open file. It ends with [Release], when the file is closed, and when the
// process ends, even if it is killed. A child process does not inherit it.
package filelock

import "os"

// TryExclusive locks a file, unless another open file has a lock on it.
func TryExclusive(f *os.File) (bool, error) { return try(f, true) }

// TryShared locks a file together with others, unless another open file has an exclusive lock.
func TryShared(f *os.File) (bool, error) { return try(f, false) }

// Release ends the lock. The file stays open.
func Release(f *os.File) error { return release(f) }
