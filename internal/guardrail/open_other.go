//go:build !unix

package guardrail

import (
	"errors"
	"io/fs"
)

const nonblock = 0

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
