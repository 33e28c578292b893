//go:build unix

package main

import "syscall"

// noFollow keeps a planted symbolic link from being written through.
const noFollow = syscall.O_NOFOLLOW

// ownSession takes the runner out of the terminal's session, so that neither its
// closing nor ctrl-c there reaches it.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
