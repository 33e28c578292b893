//go:build unix

package sandbox

import "syscall"

// become replaces this process by a program.
func become(program string, argv, env []string) error { return syscall.Exec(program, argv, env) }
