//go:build linux || darwin

package inbox

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameIfFree looks, then renames. Two that look at the same time can both find the name free; ids
// are random and the runner is one, so that no two ask for one name.
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
