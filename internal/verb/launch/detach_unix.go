//go:build unix

package launch

import (
	"errors"
	"os"
)

// redirectOutput sends the output of this process to a log, also that of a crash.
func redirectOutput(log *os.File) error {
	return errors.Join(dup2(int(log.Fd()), 1), dup2(int(log.Fd()), 2))
}
