//go:build !unix

package main

import "syscall"

const noFollow = 0

func ownSession() *syscall.SysProcAttr { return nil }
