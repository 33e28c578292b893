package attach

import (
	"context"
	"testing"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// counted is a viewer that remembers what it was shown.
type counted struct {
	types  []event.Type
	closed bool
}

func (c *counted) Event(e event.Event) error { c.types = append(c.types, e.Type); return nil }
func (c *counted) Flush() error              { return nil }
func (c *counted) Close() error              { c.closed = true; return nil }

// A runner whose last sync fails leaves a journal without a seal at its end. A reader must not wait
// for the seal, and still shows everything before.
func TestFollowEndsWithoutRunner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _, err := journal.Create(dir, journal.Recovery{NextSeq: 1}, 1, nil, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Append([]event.Draft{event.Encode(event.LoopEnded{Status: event.StatusCompleted, Reason: event.ReasonPromise}, "loop")}); err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	over, leave := context.WithCancel(t.Context())
	leave()
	var shown counted
	if err := Follow(over, dir, 0, &shown); err != nil {
		t.Fatal(err)
	}
	if len(shown.types) != 2 || shown.types[1] != event.TypeLoopEnded || !shown.closed {
		t.Errorf("shown: %v, closed: %v", shown.types, shown.closed)
	}
}
