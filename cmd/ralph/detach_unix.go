//go:build unix

package main

import "syscall"

// noFollow keeps a planted symbolic link from being written through, and a planted pipe
// from being waited for.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// ownSession takes the runner out of the terminal's session, so that neither its
// closing nor ctrl-c there reaches it.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
