//go:build !unix

package takeover

import (
	"errors"
	"os"
)

func lock(string) (*os.File, error) {
	return nil, errors.New("a take-over needs flock, which this system has not")
}
