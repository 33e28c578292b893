package keep

import (
	"io/fs"
	"syscall"
	"time"
)

// changeTime returns when a file, its name or its permissions were changed last. No program can set
// that time.
func changeTime(info fs.FileInfo) time.Time {
	if about, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(about.Ctimespec.Unix())
	}
	return info.ModTime()
}
