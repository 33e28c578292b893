package inbox

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameNoReplace renames in one step and never onto another file.
func renameNoReplace(from *os.File, name string, to *os.File, newName string) error {
	err := unix.Renameat2(int(from.Fd()), name, int(to.Fd()), newName, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return renameIfFree(from, name, to, newName) // NFS and some FUSE file systems
	}
	return err
}
