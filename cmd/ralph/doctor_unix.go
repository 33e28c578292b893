//go:build unix

package main

import (
	"os"
	"syscall"
)

// killSession kills a process that was started with ownSession, and what it started.
func killSession(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }

// freeSpace returns how many bytes this user can still write below a folder.
func freeSpace(dir string) (uint64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil //nolint:unconvert // their types differ between systems
}
