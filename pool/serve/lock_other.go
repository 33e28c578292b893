//go:build !unix

package serve

import (
	"errors"
	"os"
)

func lock(string) (*os.File, error) {
	return nil, errors.New("a server needs flock, which this system has not: run it on Linux or macOS")
}
