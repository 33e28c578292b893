package playback_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/frame"
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
		line, _ := frame.Append(nil, frame.Stamp{Seq: 1, ID: [26]byte([]byte("01JD0000000000000000000000")), At: recorded}, event.Encode(c.p, "loop"), 0)
		e, err := event.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if got := playback.Failed(e); got != c.want {
			t.Errorf("%s: %v", line, got)
		}
	}
}
