//go:build unix

package cli

import (
	"os"
	"syscall"
)

// ownFolder reports whether a folder, or a link to one, is this user's and only this user can
// write to it.
func ownFolder(path, _ string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	facts, ok := info.Sys().(*syscall.Stat_t)
	const byAnybody = 0o002
	return ok && int(facts.Uid) == os.Geteuid() && (info.Mode().Perm()&byAnybody == 0 || info.Mode()&os.ModeSymlink != 0)
}
