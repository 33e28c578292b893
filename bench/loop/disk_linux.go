package main

import (
	"fmt"
	"syscall"
)

// mount gives a folder a file system of its own, in memory, which can be made full.
func mount(dir string) error {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, tmpfsSize); err != nil {
		return fmt.Errorf("mount a file system on %s: %w", dir, err)
	}
	return nil
}

func unmount(dir string) error {
	if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount %s: %w", dir, err)
	}
	return nil
}
