package inbox

import "golang.org/x/sys/unix"

// isRemote reports whether dir is on a file system that others change without an event here.
func isRemote(dir string) bool {
	var s unix.Statfs_t
	return unix.Statfs(dir, &s) == nil && s.Flags&unix.MNT_LOCAL == 0
}
