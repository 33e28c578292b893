package inbox

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameNoReplace renames in one step and never onto another file.
func renameNoReplace(from *os.File, name string, to *os.File, newName string) error {
	err := unix.RenameatxNp(int(from.Fd()), name, int(to.Fd()), newName, unix.RENAME_EXCL)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return renameIfFree(from, name, to, newName) // not APFS or HFS+
	}
	return err
}
