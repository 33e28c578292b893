package playback_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/testkit/testevent"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/playback"
)

func TestFailed(t *testing.T) {
	for _, c := range []struct {
		p    event.Payload
		want bool
	}{
		{event.ToolReturned{ID: "t1", OK: true}, false},
		{event.ToolReturned{ID: "t1"}, true},
		{event.GuardrailEnded{Name: "make test", OK: true}, false},
		{event.GuardrailEnded{Name: "make test"}, true},
		{event.CompletionRefused{Missing: []string{"a box"}}, true},
		{event.CompletionAccepted{}, false},
		{event.IterationEnded{N: 1, Outcome: event.OutcomeDone}, false},
		{event.IterationEnded{N: 1, Outcome: event.OutcomeIdle}, true},
		{event.LoopEnded{Status: event.StatusCompleted}, false},
		{event.LoopEnded{Status: event.StatusStopped}, true},
		{event.FaultRaised{Where: "journal"}, true},
		{event.AgentSaid{}, false},
	} {
		if got := playback.Failed(testevent.Of(1, recorded, event.Encode(c.p, "loop"))); got != c.want {
			t.Errorf("%T: %v", c.p, got)
		}
	}
}
