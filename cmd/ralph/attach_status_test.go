package main

import (
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
)

// readFrom reads what a recorded loop's journal has from an event on.
func readFrom(r *recorded, seq uint64) iter.Seq2[event.Event, error] {
	return journal.Read(r.dir, journal.ReadOptions{FromSeq: seq})
}

func TestStatusLine(t *testing.T) {
	for name, c := range map[string]struct {
		story   []event.Payload
		columns int
		want    string
	}{
		"before the first": {nil, 80, "1s · cost unknown · between two iterations"},
		"the agent is started": {
			[]event.Payload{event.IterationStarted{N: 1}, event.Decided{Do: event.DoStart, Iteration: 1}}, 80,
			"iteration 1 of 10 · 3s · cost unknown · the agent is being started",
		},
		"a tool": {
			[]event.Payload{event.IterationStarted{N: 1}, event.Decided{Do: event.DoStart, Iteration: 1}, event.AgentStarted{Costs: true}, event.ToolCalled{ID: "a", Name: "bash", Input: []byte(`{"command":"make test"}`)}}, 80,
			"iteration 1 of 10 · 5s · cost unknown · bash  make test, 1s",
		},
		"narrow": {
			[]event.Payload{event.IterationStarted{N: 1}, event.Decided{Do: event.DoStart, Iteration: 1}, event.AgentStarted{Costs: true}, event.ToolCalled{ID: "a", Name: "bash", Input: []byte(`{"command":"make test and all that"}`)}}, 39,
			"1/10 · 5s · cost unknown · bash  m…, 1s",
		},
		"very narrow": {
			[]event.Payload{event.IterationStarted{N: 1}, event.Decided{Do: event.DoStart, Iteration: 1}, event.AgentStarted{Costs: true}}, 19,
			"1/10 · 4s · cost u…",
		},
		"hostile": {
			[]event.Payload{event.IterationStarted{N: 1}, event.Decided{Do: event.DoStart, Iteration: 1}, event.AgentStarted{}, event.ToolCalled{ID: "a", Name: "ba\x1b[2Jsh\n"}}, 80,
			"iteration 1 of 10 · 5s · cost unknown · bash, 1s",
		},
		"a pause is to come": {
			[]event.Payload{event.IterationStarted{N: 1}, event.Decided{Do: event.DoStart, Iteration: 1}, event.AgentStarted{Costs: true}, event.CommandReceived{ID: "c", Kind: "pause"}, event.CommandDelivered{ID: "c", How: "loop"}}, 80,
			"iteration 1 of 10 · 6s · cost unknown · pausing after iteration 1 · the age…, 3s",
		},
		"paused": {[]event.Payload{event.LoopPaused{}}, 80, "2s · cost unknown · paused"},
		"it waits for a person": {
			[]event.Payload{event.CommandReceived{ID: "c", Kind: "wait", Text: "which\nkey?"}, event.CommandDelivered{ID: "c", How: "loop"}, event.LoopPaused{For: "person"}}, 80,
			"4s · cost unknown · waits for a person: which",
		},
		"it has ended": {[]event.Payload{event.LoopEnded{Status: event.StatusStopped, Reason: event.ReasonStop}}, 80, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := record(t, "night")
			p := newPulse(r.state)
			for _, payload := range c.story {
				before := r.state.Seq
				r.append(payload)
				for e, err := range readFrom(r, before+1) {
					r.must(err)
					p.event(e)
				}
			}
			got, _ := p.line(r.at, c.columns)
			if got != c.want || render.Columns(got) > c.columns {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// What attach shows of the past may come again: the state has it already.
func TestTheStatusLineCountsNothingTwice(t *testing.T) {
	r := record(t, "night")
	r.iterate(1, "One.")
	p := newPulse(r.state)
	want, _ := p.line(r.at, 80)
	for e, err := range readFrom(r, 1) {
		r.must(err)
		p.event(e)
	}
	if got, _ := p.line(r.at, 80); got != want || !strings.Contains(got, "$0.25") {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTheTimeInTheStatusLineIsInWholeSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 999 * time.Millisecond: "0s", 9999 * time.Millisecond: "9s", 59*time.Second + 900*time.Millisecond: "59s",
		61 * time.Second: "1m1s", 3*time.Hour + 2*time.Minute: "3h2m",
	} {
		if got := elapsed(begin, begin.Add(d)); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
	// All of them count at the same moments.
	if got := elapsed(begin.Add(900*time.Millisecond), begin.Add(time.Second)); got != "1s" {
		t.Errorf("at the next second of the clock it is %q", got)
	}
}
