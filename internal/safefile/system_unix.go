//go:build unix

package safefile

import (
	"os"
	"syscall"
)

// noWait keeps the opening of a pipe from waiting for its other end; noFollow keeps a link from
// being followed that took the file's place after it was checked.
const (
	noWait   = syscall.O_NONBLOCK
	noFollow = syscall.O_NOFOLLOW
)

func syncNames(folder *os.File) error {
	if syncedFolder != nil {
		syncedFolder(folder.Name())
	}
	return folder.Sync()
}
