//go:build !linux && !darwin && !windows

package process

import "syscall"

func shellArgv(line string) []string { return []string{"sh", "-c", line} }

func shellAttributes(string) *syscall.SysProcAttr { return nil }
