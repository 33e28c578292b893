package main

import (
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/front/cli"
)

// smallFileSystem puts .ralph on a file system of 2 MB.
func smallFileSystem(t *testing.T, p *place) (start func(...string) *exec.Cmd, room func()) {
	at := filepath.Join(p.dir, cli.RalphFolder)
	p.must(exec.Command("mkdir", at).Run())
	if err := syscall.Mount("tmpfs", at, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("this user may not mount a file system (the limit on files is tried in any case): %v", err)
	}
	t.Cleanup(func() {
		endRunners(p.home)
		if err := syscall.Unmount(at, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return p.command, func() { p.must(syscall.Mount("tmpfs", at, "tmpfs", syscall.MS_REMOUNT, "size=64m")) }
}
