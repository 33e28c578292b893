//go:build unix

package projector_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/projector"
)

// What somebody else put in a projection's place is neither waited for nor written through.
func TestForeignFilesInPlaceOfProjections(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, projector.StateFile), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := projector.Open(dir); err != nil || s.Seq != 0 {
		t.Errorf("a pipe for state.json: event %d, %v", s.Seq, err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, projector.IterationsDir)); err != nil {
		t.Fatal(err)
	}
	err := projector.Replace(filepath.Join(dir, projector.IterationsDir, "001.json"), []byte("{}"))
	if !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("a link for iterations: %v", err)
	}
	if written, err := os.ReadDir(outside); err != nil || len(written) > 0 {
		t.Errorf("written outside: %v %v", written, err)
	}
}
