//go:build !linux && !darwin

package registry

import (
	"errors"
	"fmt"
)

// ProcessStart returns when a process of this machine began. Here it is not known.
func ProcessStart(pid int) (uint64, error) {
	return 0, fmt.Errorf("read process start: %w", errors.ErrUnsupported)
}
