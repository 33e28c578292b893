//go:build unix

package main

import (
	"os"
	"syscall"
)

// ownFolder reports whether a folder, or a link to one, is this person's and nobody else can put anything there.
func ownFolder(path, _ string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	facts, ok := info.Sys().(*syscall.Stat_t)
	const byAnybody = 0o002
	return ok && int(facts.Uid) == os.Geteuid() && (info.Mode().Perm()&byAnybody == 0 || info.Mode()&os.ModeSymlink != 0)
}
