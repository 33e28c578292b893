//go:build unix

package safefile

import (
	"os"
	"syscall"
)

// noWait opens a pipe without waiting for its other end. noFollow refuses a link that replaced the
// file after it was checked.
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
