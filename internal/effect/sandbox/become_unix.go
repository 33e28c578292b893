//go:build unix

package sandbox

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/ground/filelock"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
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

// hold locks a file for this process and the program that it becomes.
func hold(path string) error {
	f, err := safefile.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if _, err := filelock.TryExclusive(f); err != nil { // another agent of the loop may have it
		return err
	}
	held = f
	_, err = unix.FcntlInt(f.Fd(), unix.F_SETFD, 0)
	return err
}

// held is never closed.
var held *os.File //nolint:unused // a file that nothing refers to is closed by the collector
