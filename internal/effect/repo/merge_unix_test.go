//go:build unix

package repo

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A merge removes no pipe and no socket, which git does not see.
func TestMergeLeavesPipes(t *testing.T) {
	w := born(t)
	w.git("checkout", "-q", "-b", "side")
	w.write("logs", "a file")
	w.commit("side")
	w.git("checkout", "-q", "-")
	m, err := PlanMerge(t.Context(), w.dir, "refs/heads/side", MergeAuto, "m")
	must(t, err)
	must(t, os.MkdirAll(filepath.Join(w.dir, "logs/deep"), 0o755))
	pipe := filepath.Join(w.dir, "logs/deep/pipe")
	must(t, unix.Mkfifo(pipe, 0o600))
	if err := m.Apply(t.Context(), w.dir); !errors.Is(err, ErrInTheWay) || !strings.Contains(err.Error(), "logs/deep/pipe") {
		t.Errorf("a pipe in a folder: %v", err)
	}
	must(t, os.Rename(pipe, filepath.Join(w.dir, "pipe")))
	w.remove("logs")
	must(t, os.Rename(filepath.Join(w.dir, "pipe"), filepath.Join(w.dir, "logs")))
	if err := m.Apply(t.Context(), w.dir); !errors.Is(err, ErrInTheWay) {
		t.Errorf("a pipe: %v", err)
	}
	w.remove("logs")
	must(t, m.Apply(t.Context(), w.dir))
}
