package listing

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/store/dir"
)

// A folder that is gone is like one without keys, and a pool deletes none.
func TestFollowNoticesLostStore(t *testing.T) {
	folder := t.TempDir()
	s, err := dir.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	cell := live.Cell{Key: keys.Beat("mill")}
	if err := cell.Put(t.Context(), s, 0, live.Beat{Version: 1, Host: "mill", At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	f := newFollower(s, "desk", func(Change) error { return nil })
	if err := f.round(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := cell.Put(t.Context(), s, 0, "no beat"); err != nil {
		t.Fatal(err)
	}
	if err := f.round(t.Context()); err != nil {
		t.Errorf("a damaged beat ends it: %v", err)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := f.round(t.Context()); err == nil || !strings.Contains(err.Error(), "no beat of host mill any more") {
		t.Errorf("it ended with %v", err)
	}
}
