//go:build unix && !linux

package sandbox

import "syscall"

// continued is a signal that a running process does not notice.
const continued = syscall.SIGCONT
