//go:build unix

package sandbox

import (
	"os"
	"syscall"
)

// become replaces this process by a program.
func become(program string, argv, env []string) error { return syscall.Exec(program, argv, env) }

// ownerOf is the user to whom a folder belongs; -1 if that is not known.
func ownerOf(dir string) int {
	info, err := os.Stat(dir)
	if err != nil {
		return -1
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}
