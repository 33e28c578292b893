//go:build unix

package hook

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/effect/plan"
)

// No hook waits for the other end of a pipe.
func TestPipesAreNotOpened(t *testing.T) {
	w := newWorld(t).live()
	pipe := func(path string) string {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	transcript := pipe(filepath.Join(w.home, "transcript.jsonl"))
	got, err := w.answer(PostToolUse, w.input("PostToolUse", map[string]any{"transcript_path": transcript}))
	if err == nil || got != (output{}) {
		t.Errorf("after a tool: %+v, %v", got, err)
	}
	w.mark(plan.Marker{})
	w.write("ralph/x", "")
	pipe(filepath.Join(w.project, "ralph", "tasks.json"))
	checkBlocked(t, w.stop(map[string]any{"transcript_path": transcript}), "is a named pipe")
	f := w.begin(nil)
	pipe(filepath.Join(w.project, ".ralph", sessionFolder, "pipe.json"))
	checkBlocked(t, w.stop(map[string]any{"transcript_path": transcript}), marker)
	if n := len(f.List()); n != 1 {
		t.Errorf("%d session loops", n)
	}
}
