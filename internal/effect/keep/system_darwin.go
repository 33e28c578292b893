package keep

import (
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// changeTime returns when a file, its name or its permissions were changed last. No program can set
// that time.
func changeTime(info fs.FileInfo) time.Time {
	if about, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(about.Ctimespec.Unix())
	}
	return info.ModTime()
}

// syncDisk makes durable what was written to the file system of a folder, by any process: git does
// not sync what it keeps.
func syncDisk(string) error { return unix.Sync() }
