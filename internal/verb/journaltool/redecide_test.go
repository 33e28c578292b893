package journaltool

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/ground/frame"
	"github.com/ralph-loop/ralph/journal/event"
)

// numbered is an event with this number.
func numbered(t *testing.T, seq event.Seq, p event.Payload) event.Event {
	t.Helper()
	stamp := frame.Stamp{Seq: seq, ID: [26]byte([]byte("01JD0000000000000000000000")), At: time.Date(2026, 11, 21, 12, 0, int(seq), 0, time.UTC)}
	line, _ := frame.Append(nil, stamp, event.Encode(p, "loop"), 0)
	e, err := event.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A checkpoint is compared with the fold of the events before it: those up to the seal, or with it.
func TestVerifyComparesCheckpoints(t *testing.T) {
	var s loopstate.State
	fold := func(e event.Event) {
		t.Helper()
		if err := s.Fold(e); err != nil {
			t.Fatal(err)
		}
	}
	fold(numbered(t, 1, event.SegmentOpened{Ordinal: 1}))
	fold(numbered(t, 2, event.LoopStarted{Name: "night"}))
	before := s.Checkpoint()
	fold(numbered(t, 3, event.SegmentSealed{}))
	with := s.Checkpoint()
	other := []byte(strings.Replace(string(with), `"night"`, `"noon"`, 1))
	for name, c := range map[string]struct {
		recorded []byte
		differs  bool
	}{
		"before the seal": {before, false},
		"with the seal":   {with, false},
		"another name":    {other, true},
	} {
		var r redecided
		r.checkpoint(numbered(t, 4, event.SegmentOpened{Ordinal: 2, Checkpoint: c.recorded}), &s, before)
		if r.Checkpoints != 1 || (r.foldSeq == 4) != c.differs {
			t.Errorf("%s: %+v", name, r)
		}
		if c.differs && (len(r.Differ) != 1 || !strings.Contains(r.Differ[0], `name is "noon", and the journal says "night"`)) {
			t.Errorf("%s: %q", name, r.Differ)
		}
	}
	var first redecided
	first.checkpoint(numbered(t, 9, event.SegmentOpened{Ordinal: 5, Checkpoint: with}), &loopstate.State{}, nil)
	if first.Checkpoints != 0 {
		t.Error("the checkpoint of the first segment that is left has nothing before it")
	}
}
