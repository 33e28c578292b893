//go:build unix && !linux

package main

import (
	"os/exec"
	"testing"
)

func smallFileSystem(t *testing.T, p *place) (start func(...string) *exec.Cmd, room func()) {
	t.Skip("a small file system is made on Linux only; the limit on files is tried everywhere")
	return nil, nil
}
