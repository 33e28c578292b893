//go:build unix

package loopstate_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
)

// A writer neither waits at a pipe nor writes through a link in a projection's place.
func TestForeignFilesReplaceProjections(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, loopstate.StateFile), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := loopstate.Open(dir); err != nil || s.Seq != 0 {
		t.Errorf("a pipe for state.json: event %d, %v", s.Seq, err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, loopstate.IterationsDir)); err != nil {
		t.Fatal(err)
	}
	w := loopstate.NewWriter(dir, nil)
	w.Iteration(loopstate.Telemetry{N: 1})
	if err := w.Close(); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("a link for iterations: %v", err)
	}
	if written, err := os.ReadDir(outside); err != nil || len(written) > 0 {
		t.Errorf("written outside: %v %v", written, err)
	}
}
