//go:build unix

package keep

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/effect/repo"
)

// A merge removes no pipe and no socket, which git does not see.
func TestMergeLeavesPipes(t *testing.T) {
	w := born(t)
	w.Git("checkout", "-q", "-b", "side")
	w.Write("logs", "a file")
	w.Commit("side")
	w.Git("checkout", "-q", "-")
	m, err := repo.PlanMerge(t.Context(), w.Dir, "refs/heads/side", repo.MergeAuto, "m")
	must(t, err)
	must(t, os.MkdirAll(filepath.Join(w.Dir, "logs/deep"), 0o755))
	pipe := filepath.Join(w.Dir, "logs/deep/pipe")
	must(t, unix.Mkfifo(pipe, 0o600))
	if err := Merge(t.Context(), w.Dir, m); !errors.Is(err, ErrInTheWay) || !strings.Contains(err.Error(), "logs/deep/pipe") {
		t.Errorf("a pipe in a folder: %v", err)
	}
	must(t, os.Rename(pipe, filepath.Join(w.Dir, "pipe")))
	w.Remove("logs")
	must(t, os.Rename(filepath.Join(w.Dir, "pipe"), filepath.Join(w.Dir, "logs")))
	if err := Merge(t.Context(), w.Dir, m); !errors.Is(err, ErrInTheWay) {
		t.Errorf("a pipe: %v", err)
	}
	w.Remove("logs")
	must(t, Merge(t.Context(), w.Dir, m))
}
