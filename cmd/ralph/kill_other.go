//go:build !unix

package main

import "os"

// killProcess ends a process at once.
func killProcess(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}
