package filewatch

import "golang.org/x/sys/unix"

// Remote reports whether dir is on a file system that others change without an event here.
func Remote(dir string) bool {
	var s unix.Statfs_t
	return unix.Statfs(dir, &s) == nil && s.Flags&unix.MNT_LOCAL == 0
}
