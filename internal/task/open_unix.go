//go:build unix

package task

import "syscall"

// nonblock keeps the opening of a file from waiting, should it have turned into a FIFO since it was looked at.
const nonblock = syscall.O_NONBLOCK
