package transcript_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/transcript"
)

// write makes the journal of a loop with some iterations.
func write(t *testing.T, iterations int) (dir string, last event.Seq) {
	t.Helper()
	dir = t.TempDir()
	rec, err := journal.Recover(dir, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := journal.Create(dir, rec, 0, nil, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range iterations {
		steps := []event.Payload{
			event.IterationStarted{N: n + 1},
			event.AgentSaid{Block: "1", Text: event.Plain("some ")}, event.AgentSaid{Block: "1", Text: event.Plain("words"), Final: true},
			event.ToolCalled{ID: "t", Name: "bash"}, event.ToolReturned{ID: "t", OK: true, Output: event.Plain("done")},
			event.IterationEnded{N: n + 1, Outcome: event.OutcomeDone},
		}
		for _, p := range steps {
			d := event.Encode(p, "loop")
			d.Iter = n + 1
			events, err := w.Append([]event.Draft{d})
			if err != nil {
				t.Fatal(err)
			}
			last = events[0].Seq
		}
		if _, err := w.Rotate(n+2, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, last
}

// Pages from the end to the beginning have each entry once.
func TestPagesCoverTheLoop(t *testing.T) {
	dir, _ := write(t, 20)
	for _, n := range []int{3, 10, 64, 1000} {
		p, _, _, err := transcript.Tail(dir, n, transcript.Options{Location: time.UTC})
		if err != nil || !p.End {
			t.Fatal(p.End, err)
		}
		kinds := map[transcript.Kind]int{}
		for {
			for _, e := range p.Entries {
				kinds[e.Body.Kind()]++
			}
			if p.Start {
				break
			}
			before := p.First
			if p, err = transcript.Before(dir, before, n, transcript.Options{}); err != nil {
				t.Fatal(err)
			}
			if p.Last != before-1 {
				t.Fatalf("the page before %d ends with %d", before, p.Last)
			}
		}
		if kinds[transcript.KindIteration] != 20 || kinds[transcript.KindIterationEnd] != 20 || n > 3 && (kinds[transcript.KindWords] != 20 || kinds[transcript.KindTools] != 20) {
			t.Errorf("pages of %d events have %v", n, kinds)
		}
	}
}

func TestPageOfDroppedEvents(t *testing.T) {
	dir, last := write(t, 6)
	segments, err := journal.Segments(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range segments[:3] {
		remove(t, filepath.Join(dir, "journal", s.Name))
	}
	p, err := transcript.Read(dir, 1, 20, transcript.Options{})
	if err != nil || !p.Start || p.First <= 1 {
		t.Errorf("a page that begins with a dropped event: %+v, %v", p, err)
	}
	if p, err = transcript.Before(dir, p.First, 20, transcript.Options{}); err != nil || !p.Start || len(p.Entries) != 0 {
		t.Errorf("a page before the first event: %+v, %v", p, err)
	}
	if p, err = transcript.Read(dir, last, 20, transcript.Options{}); err != nil || !p.End {
		t.Errorf("the last page: %+v, %v", p, err)
	}
}

// The builder of a page up to an event continues with the one after it.
func TestPageUpToAnEvent(t *testing.T) {
	dir, last := write(t, 20)
	for _, seq := range []event.Seq{0, 1, 5, 40, 41, 42, 43, last} {
		for _, n := range []int{1, 10, 1000} {
			p, b, err := transcript.At(dir, seq, n, transcript.Options{Location: time.UTC})
			if err != nil || p.Last != seq || p.First > seq {
				t.Fatalf("at %d: %d to %d, %v", seq, p.First, p.Last, err)
			}
			newest := map[event.Seq]transcript.Entry{}
			for _, e := range p.Entries {
				newest[e.Seq] = e
			}
			for e, err := range journal.Read(dir, journal.ReadOptions{FromSeq: min(seq+1, last)}) {
				if err != nil {
					t.Fatal(err)
				}
				b.Add(e)
			}
			for _, e := range b.Take() {
				newest[e.Seq] = e
			}
			running := 0
			for _, e := range newest {
				if tools, ok := e.Body.(transcript.Tools); ok && tools.State() == transcript.StateRunning {
					running++
				}
			}
			if running > 0 && n > 1 {
				t.Errorf("at %d with %d events, %d tools never returned", seq, n, running)
			}
		}
	}
}

// Use follows what an agent reports: an iteration begins with an empty context, a report of nothing
// changes nothing, and a report without a model leaves the model as it is.
func TestUseFollowsTheAgent(t *testing.T) {
	var u transcript.Use
	for _, step := range []struct {
		payload event.Payload
		want    transcript.Use
	}{
		{event.AgentUsed{In: 100, Out: 20, CacheRead: 3, Model: "opus"}, transcript.Use{Context: 123, Model: "opus"}},
		{event.AgentUsed{}, transcript.Use{Context: 123, Model: "opus"}},
		{event.AgentCompacted{After: 40}, transcript.Use{Context: 40, Model: "opus"}},
		{event.IterationStarted{N: 2}, transcript.Use{Model: "opus"}},
	} {
		if u.Add(script(step.payload)[0]); u != step.want {
			t.Errorf("after %s: %+v, want %+v", event.Encode(step.payload, "loop").Type, u, step.want)
		}
	}
}
