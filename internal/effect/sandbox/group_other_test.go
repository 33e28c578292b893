//go:build !unix

package sandbox

import (
	"syscall"
	"testing"
)

func ownGroup() *syscall.SysProcAttr { return nil }

func termGroup(t *testing.T, _ int) { t.Skip("this system has no groups of processes") }
