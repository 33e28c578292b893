//go:build unix

package guardrail

import (
	"errors"
	"io/fs"
	"syscall"
)

// nonblock keeps the opening of a pipe from waiting for its other end.
const nonblock = syscall.O_NONBLOCK

// missing reports whether an error says that nothing stands at a path. Below a file nothing does, nor under a name that no file can
// have, as words of a command may be.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}
