//go:build linux || darwin

package inbox

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameIfFree checks for the name, then renames. Two calls at the same time may both find the name
// free. No two ask for the same name: ids are random, and there is only one runner.
func renameIfFree(from *os.File, name string, to *os.File, newName string) error {
	var stat unix.Stat_t
	err := unix.Fstatat(int(to.Fd()), newName, &stat, unix.AT_SYMLINK_NOFOLLOW)
	if err == nil {
		return unix.EEXIST
	}
	if !errors.Is(err, unix.ENOENT) {
		return err
	}
	return unix.Renameat(int(from.Fd()), name, int(to.Fd()), newName)
}
