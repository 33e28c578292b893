//go:build unix

package guardrail

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// nonblock keeps the opening of a pipe from waiting for its other end.
const nonblock = syscall.O_NONBLOCK

// syncFolder makes the names in a folder durable.
func syncFolder(folder *os.Root) error {
	file, err := folder.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// missing reports whether an error says that nothing stands at a path. Below a file nothing does, nor under a name that no file can
// have, as words of a command may be.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}
