package main

import (
	"iter"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/front/attach"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render"
)

// readFrom reads what a recorded loop's journal has from an event on.
func readFrom(r *recorded, seq event.Seq) iter.Seq2[event.Event, error] {
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
			[]event.Payload{event.CommandReceived{ID: "c", Kind: "wait", Text: "which\nkey?"}, event.CommandDelivered{ID: "c", How: "loop"}, event.LoopWaiting{For: event.WaitPerson, Why: "which\nkey?"}}, 80,
			"4s · cost unknown · waits for a person: which",
		},
		"it has ended": {[]event.Payload{event.LoopEnded{Status: event.StatusStopped, Reason: event.ReasonStop}}, 80, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := record(t, "night")
			p := attach.NewLiveStatus(r.loop())
			for _, payload := range c.story {
				before := r.state.Seq
				r.append(payload)
				for e, err := range readFrom(r, before+1) {
					r.must(err)
					p.Event(e)
				}
			}
			got, _ := p.Line(r.at, c.columns)
			if got != c.want || render.Columns(got) > c.columns {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// An event that the state has already is not counted again.
func TestStatusLineCountsEventsOnce(t *testing.T) {
	r := record(t, "night")
	r.iterate(1, "One.")
	p := attach.NewLiveStatus(r.loop())
	want, _ := p.Line(r.at, 80)
	for e, err := range readFrom(r, 1) {
		r.must(err)
		p.Event(e)
	}
	if got, _ := p.Line(r.at, 80); got != want || !strings.Contains(got, "$0.25") {
		t.Errorf("%q, want %q", got, want)
	}
}

func (r *recorded) loop() *projector.Loop {
	loop, err := projector.Rebuild(r.dir)
	r.must(err)
	return loop
}
