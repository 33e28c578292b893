package loop_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/journal/event"
)

// differsAt decides again, and returns where the journal differs; 0 for nowhere.
func differsAt(t *testing.T, lines [][]byte) event.Seq {
	t.Helper()
	var v loop.Verifier
	for _, e := range parsedLines(t, lines) {
		found, err := v.Event(e)
		if err != nil {
			return e.Seq // the state cannot be folded any more
		}
		if found != nil {
			return found.Seq
		}
	}
	if v.State().Seq != event.Seq(len(lines)) {
		t.Errorf("the state is that of event %d of %d", v.State().Seq, len(lines))
	}
	return 0
}

func parsedLines(t *testing.T, lines [][]byte) (events []event.Event) {
	t.Helper()
	for _, line := range lines {
		e, err := event.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

// without returns a journal in which one event is missing, or another is in its place.
func without(t *testing.T, events []event.Event, at int, instead *event.Draft) [][]byte {
	t.Helper()
	m := &memory{}
	for i, e := range events {
		m.now = e.At
		d := event.Draft{Type: e.Type, By: e.By(), Iter: e.Iter, Cause: e.Cause, Data: e.Data()}
		switch {
		case i == at && instead == nil:
			continue
		case i == at:
			d.Type, d.Data = instead.Type, instead.Data
		case instead == nil && d.Cause > events[at].Seq:
			d.Cause--
		}
		if _, err := m.Append([]event.Draft{d}); err != nil {
			t.Fatal(err)
		}
	}
	return m.lines
}

// The journals of all traces agree with the rules. None of them does after one decision is removed,
// or another is in its place.
func TestVerifierNoticesEachDecision(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "trace", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	other := event.Encode(event.BudgetWarned{Limit: "another"}, "loop")
	removed := 0
	for _, file := range files {
		story, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, journal := played(t, string(story))
		events := parsedLines(t, journal.lines)
		if at := differsAt(t, journal.lines); at != 0 {
			t.Errorf("%s: event %d differs", file, at)
			continue
		}
		var state loop.State
		for i, e := range events {
			decision := e.By() == "loop" && e.Type != event.TypeFaultRaised
			if loop.IsDecision(&state, e) != decision {
				t.Errorf("%s: event %d, %s by %s, is a decision: %t", file, e.Seq, e.Type, e.By(), !decision)
			}
			if err := state.Fold(e); err != nil {
				t.Fatal(err)
			}
			if !decision {
				continue
			}
			if at := differsAt(t, without(t, events, i, &other)); at != e.Seq {
				t.Errorf("%s: another decision in the place of event %d %s is noticed at %d", file, e.Seq, e.Type, at)
			}
			if i == len(events)-1 || events[i+1].Type == event.TypeLoopResumed {
				continue // what a runner did not record before it died is no difference
			}
			if before, after := events[i-1], events[i+1]; before.By() != "loop" && after.By() != "loop" && before.At.Equal(after.At) {
				continue // they could be of one write, within which nothing is decided
			}
			if removed++; differsAt(t, without(t, events, i, nil)) == 0 {
				t.Errorf("%s: it is not noticed that event %d, %s, is missing", file, e.Seq, e.Type)
			}
		}
	}
	if removed < 100 {
		t.Errorf("only %d decisions were removed", removed)
	}
}
