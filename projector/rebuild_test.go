package projector_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// What Write writes is what Compare expects; every other file differs.
func TestProjectionsAreRebuilt(t *testing.T) {
	dir := t.TempDir()
	recovery, err := journal.Recover(dir, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := journal.Create(dir, recovery, 1, nil, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []event.Payload{
		event.LoopStarted{Name: "demo"}, event.Decided{Do: event.DoBegin, Iteration: 1}, event.IterationStarted{N: 1},
		event.IterationEnded{N: 1, Outcome: event.OutcomeDone, Tools: 2}, event.LoopPaused{},
	} {
		if _, err := w.Append([]event.Draft{event.Encode(p, "loop")}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := projector.Compare(dir); err == nil {
		t.Error("files that are not there are compared")
	}
	written, err := projector.Write(dir)
	if err != nil || written.Iterations != 1 || written.Seq == 0 {
		t.Fatalf("%+v, %v", written, err)
	}
	if p, err := projector.Compare(dir); err != nil || len(p.Differ) > 0 || p.State != written.Seq || p.Iterations != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	for _, change := range []struct{ file, old, new, want string }{
		{"iterations/001.json", `"tools": 2`, `"tools": 5`, "iterations/001.json tools is 5, and the journal says 2"},
		{"state.json", `"status":"paused"`, `"status":"running"`, `state.json status is "running", and the journal says "paused"`},
		{"state.json", `{"seq"`, `"seq"`, "state.json is not JSON: "},
	} {
		file := filepath.Join(dir, filepath.FromSlash(change.file))
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), change.old) {
			t.Fatalf("%v: no %s in %s", err, change.old, text)
		}
		if err := os.WriteFile(file, []byte(strings.Replace(string(text), change.old, change.new, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if p, err := projector.Compare(dir); err != nil || len(p.Differ) != 1 || !strings.HasPrefix(p.Differ[0], change.want) {
			t.Errorf("%v: %q, not %q", err, p.Differ, change.want)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
