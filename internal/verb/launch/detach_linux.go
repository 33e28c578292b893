package launch

import "golang.org/x/sys/unix"

// dup2 is spelled dup3 on Linux, where not every architecture has the old one.
func dup2(from, to int) error { return unix.Dup3(from, to, 0) }
