//go:build !unix

package guardrail

import (
	"errors"
	"io/fs"
	"os"
)

const nonblock = 0

// syncFolder does nothing: Windows keeps names durable by itself and has no call for it.
func syncFolder(*os.Root) error { return nil }

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
