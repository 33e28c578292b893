//go:build unix

package plan_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
)

// What an agent may put in the place of a file is neither followed nor waited for, and a write
// replaces it.
func TestLinksAndPipesAreErrors(t *testing.T) {
	read := map[string]func(string) error{
		plan.Folder + "/" + plan.Tasks: func(dir string) error { _, err := plan.ReadTasks(dir); return err },
		plan.Active:                    func(dir string) error { _, err := plan.ReadMarker(dir); return err },
	}
	write := map[string]func(string) error{
		plan.Folder + "/" + plan.Tasks: func(dir string) error { return plan.WriteTasks(dir, []byte("{}")) },
		plan.Active:                    func(dir string) error { return plan.WriteMarker(dir, plan.Marker{}) },
	}
	place := map[safefile.Problem]func(other, path string) error{
		safefile.IsLink: os.Symlink,
		safefile.IsPipe: func(_, path string) error { return syscall.Mkfifo(path, 0o600) },
	}
	for name := range read {
		for problem, make := range place {
			t.Run(name+" "+string(problem), func(t *testing.T) {
				dir := project(t)
				other, path := filepath.Join(dir, "other"), filepath.Join(dir, name)
				testfile.Write(t, other, `{"pid": 1}`)
				if err := make(other, path); err != nil {
					t.Fatal(err)
				}
				if err := read[name](dir); !is(err, problem) {
					t.Errorf("read: %v", err)
				}
				if err := write[name](dir); err != nil {
					t.Errorf("write: %v", err)
				}
				if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
					t.Errorf("after it: %v, %v", info, err)
				}
				if got := text(t, other); got != `{"pid": 1}` {
					t.Errorf("the link was followed: %q", got)
				}
			})
		}
	}
}

func TestFolderOutsideIsRefused(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	testfile.Write(t, filepath.Join(outside, plan.Tasks), "{}")
	if err := os.Symlink(outside, plan.Dir(dir)); err != nil {
		t.Fatal(err)
	}
	if got, err := plan.ReadTasks(dir); err == nil {
		t.Errorf("read %q", got)
	}
	if err := plan.WriteTasks(dir, []byte("x")); err == nil {
		t.Error("written")
	}
	if got := text(t, filepath.Join(outside, plan.Tasks)); got != "{}" {
		t.Errorf("%q", got)
	}
}

func TestLinkedMarkerIsRemoved(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other")
	testfile.Write(t, other, "x")
	if err := os.Symlink(other, filepath.Join(dir, plan.Active)); err != nil {
		t.Fatal(err)
	}
	if err := plan.RemoveMarker(dir, "any"); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, plan.Active)); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if text(t, other) != "x" {
		t.Error("the link was followed")
	}
}
