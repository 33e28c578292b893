//go:build !linux && !darwin

package registry

import (
	"errors"
	"fmt"
)

// bootID names the time between two starts of this machine. Here it is not known.
func bootID() (string, error) { return "", fmt.Errorf("read the boot id: %w", errors.ErrUnsupported) }
