//go:build unix

package main

import "syscall"

// killProcess ends a process at once.
func killProcess(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }
