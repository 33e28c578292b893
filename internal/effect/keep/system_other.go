//go:build !linux && !darwin

package keep

import (
	"io/fs"
	"time"
)

// changeTime returns when the content of a file was changed last.
func changeTime(info fs.FileInfo) time.Time { return info.ModTime() }

// syncDisk does nothing: git for Windows syncs what it keeps.
func syncDisk(string) error { return nil }
