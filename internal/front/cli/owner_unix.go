//go:build unix

package cli

import (
	"os"
	"syscall"
)

// safeOwner reports whether a file or folder, or what a link to it leads to, is this user's or
// root's, and is none that anybody may write to.
func safeOwner(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	facts, ok := info.Sys().(*syscall.Stat_t)
	return ok && (facts.Uid == 0 || int(facts.Uid) == os.Geteuid()) && info.Mode().Perm()&byAnybody == 0
}

const byAnybody = 0o002

// ownFolder reports whether a folder, or a link to one, is this user's and only this user can
// write to it.
func ownFolder(path, _ string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	facts, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(facts.Uid) == os.Geteuid() && (info.Mode().Perm()&byAnybody == 0 || info.Mode()&os.ModeSymlink != 0)
}
