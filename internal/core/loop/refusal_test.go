package loop_test

import (
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestRefusalOfResume(t *testing.T) {
	at := time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC)
	completed := event.LoopEnded{Status: event.StatusCompleted, Reason: event.ReasonPromise, Why: "the agent gave the promise"}
	resumed := event.LoopResumed{Rules: &event.Rules{MaximumIterations: 1}}
	set := event.CommandReceived{ID: "1", Kind: event.CommandSet, Key: "maximumIterations", Val: "2"}
	stop := event.CommandReceived{ID: "2", Kind: event.CommandStop}
	steer := event.CommandReceived{ID: "3", Kind: event.CommandSteer, Text: "look at it"}
	for name, c := range map[string]struct {
		ended *event.LoopEnded
		with  []event.Payload
		want  event.Reason
	}{
		"its iterations are used":                     {&completed, []event.Payload{resumed}, event.ReasonIterations},
		"a message is no reason to work":              {&completed, []event.Payload{resumed, steer}, event.ReasonIterations},
		"a limit is raised in the inbox":              {&completed, []event.Payload{resumed, set}, ""},
		"a limit is raised by the start":              {&completed, []event.Payload{event.LoopResumed{Rules: &event.Rules{MaximumIterations: 2}}}, ""},
		"a person's stop is recorded":                 {&completed, []event.Payload{resumed, stop}, ""},
		"a loop whose runner died has to have an end": {nil, []event.Payload{resumed}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := &memory{now: at}
			had := []event.Draft{
				event.Encode(event.LoopStarted{Name: "night", Rules: event.Rules{MaximumIterations: 1}}, "loop"),
				event.Encode(event.IterationStarted{N: 1}, "loop"), event.Encode(event.IterationEnded{N: 1, Outcome: event.OutcomeDone}, "loop"),
			}
			if c.ended != nil {
				had = append(had, event.Encode(*c.ended, "loop"))
			}
			events, err := m.Append(had)
			if err != nil {
				t.Fatal(err)
			}
			var s loopstate.State
			for _, e := range events {
				if err := s.Fold(e); err != nil {
					t.Fatal(err)
				}
			}
			before := string(s.Checkpoint())
			var drafts []event.Draft
			for _, p := range c.with {
				drafts = append(drafts, event.Encode(p, "loop"))
			}
			ended, err := loop.Refusal(&s, drafts, at)
			if err != nil {
				t.Fatal(err)
			}
			var got event.Reason
			if ended != nil {
				got = ended.Reason
			}
			if got != c.want {
				t.Errorf("refused with %q, want %q", got, c.want)
			}
			if after := string(s.Checkpoint()); after != before {
				t.Errorf("the state changed:\n%s\nwas\n%s", after, before)
			}
		})
	}
}
