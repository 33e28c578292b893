package registry

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// bootID names the time between two starts of this machine.
func bootID() (string, error) {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return "", fmt.Errorf("read the boot id: %w", err)
	}
	return id, nil
}
