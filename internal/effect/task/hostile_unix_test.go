//go:build unix

package task_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/effect/task"
)

// TestOtherFilesAreNotFollowed hangs if a FIFO is opened.
func TestOtherFilesAreNotFollowed(t *testing.T) {
	put := map[string]struct {
		says string
		put  func(path string) error
	}{
		"a link to a file within the folder": {"a symbolic link", func(path string) error { return os.Symlink("other.md", path) }},
		"a link to a file elsewhere":         {"a symbolic link", func(path string) error { return os.Symlink("/etc/hosts", path) }},
		"a link to nothing":                  {"a symbolic link", func(path string) error { return os.Symlink("nothing", path) }},
		"a FIFO without a writer":            {"a named pipe", func(path string) error { return syscall.Mkfifo(path, 0o600) }},
	}
	for what, row := range put {
		for _, name := range []string{task.DoneFile, task.WaitFile, task.TaskFile, task.ReflectFile, task.PullRequestFile} {
			t.Run(what+" as "+name, func(t *testing.T) {
				dir := folder(t, map[string]string{"other.md": "secret"})
				if err := row.put(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
				_, err := task.ReadMarks(dir)
				switch name {
				case task.ReflectFile:
					_, err = task.Reflection(dir)
				case task.PullRequestFile:
					_, _, err = task.ReadPullRequest(dir)
				}
				if _, ok := errors.AsType[*task.FileError](err); !ok || !strings.Contains(err.Error(), name+" is "+row.says) {
					t.Errorf("%v", err)
				}
			})
		}
	}
}

func TestOddMarkCanBeRemoved(t *testing.T) {
	dir := folder(t, map[string]string{"other.md": "kept"})
	if err := os.Symlink("other.md", filepath.Join(dir, task.DoneFile)); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, task.WaitFile), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(task.RemoveDone(dir), task.RemoveWait(dir)); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "other.md" {
		t.Errorf("%v, %v", left, err)
	}
}

func TestTaskLinkIsNotFollowed(t *testing.T) {
	for what, target := range map[string]string{"to an empty file": "other.md", "to nothing": "nothing"} {
		t.Run(what, func(t *testing.T) {
			dir := folder(t, map[string]string{"other.md": ""})
			if err := os.Symlink(target, filepath.Join(dir, task.TaskFile)); err != nil {
				t.Fatal(err)
			}
			created, err := task.Create(dir, []byte("a"))
			if _, ok := errors.AsType[*task.FileError](err); !ok || created {
				t.Errorf("%v, %v", created, err)
			}
			if content, err := os.ReadFile(filepath.Join(dir, "other.md")); err != nil || len(content) > 0 {
				t.Errorf("%q, %v", content, err)
			}
			if _, err := os.Lstat(filepath.Join(dir, "nothing")); err == nil {
				t.Error("the link's target was made")
			}
		})
	}
}
