package render_test

import (
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/testkit/testevent"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
)

func TestRunning(t *testing.T) {
	call := func(id, command string) event.ToolCalled {
		return event.ToolCalled{ID: id, Name: "bash", Input: []byte(`{"command":"` + command + `"}`)}
	}
	for name, row := range map[string]struct {
		story []any
		what  string
	}{
		"nothing is known":              {nil, ""},
		"the agent":                     {[]any{event.AgentStarted{}}, "the agent works"},
		"it thinks":                     {[]any{event.AgentStarted{}, event.AgentThought{Block: "1"}}, "the agent thinks"},
		"it writes":                     {[]any{event.AgentThought{Block: "1"}, event.AgentSaid{Block: "2"}}, "the agent writes"},
		"a tool":                        {[]any{event.AgentStarted{}, call("a", "make test")}, "bash  make test"},
		"its file, from the project":    {[]any{event.ToolCalled{ID: "a", Name: "Read", Input: []byte(`{"file_path":"/p/x.go"}`)}}, "Read  x.go"},
		"the latest of several":         {[]any{call("a", "one"), call("b", "two"), call("c", "three")}, "bash  three (and 2 others)"},
		"not one that returned":         {[]any{call("a", "one"), call("b", "two"), event.ToolReturned{ID: "b", OK: true}}, "bash  one"},
		"the agent after the last tool": {[]any{call("a", "one"), event.ToolReturned{ID: "a", OK: true}}, "the agent works"},
		"hostile text is clean":         {[]any{call("a", "\\u001b[2Jone\\u009b3J")}, "bash  one"},
		"a guardrail":                   {[]any{call("a", "one"), event.AgentFinished{}, event.GuardrailStarted{Name: "make \x1b[2Jlint"}}, "guardrail  make lint"},
		"not one that has ended":        {[]any{event.GuardrailStarted{Name: "x"}, event.GuardrailEnded{Name: "x"}}, ""},
		"nothing after the end":         {[]any{call("a", "one"), event.IterationEnded{N: 1}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			running := render.Running{Project: "/p"}
			events := script(row.story...)
			for _, e := range events {
				running.Event(e)
			}
			what, since := running.Now()
			if what != row.what {
				t.Errorf("%q, want %q", what, row.what)
			}
			if what != "" && (since.Before(events[0].At) || since.After(events[len(events)-1].At)) {
				t.Errorf("since %v", since)
			}
		})
	}
}

// script makes events of payloads, a second apart.
func script(steps ...any) (events []event.Event) {
	for i, p := range steps {
		events = append(events, testevent.Of(event.Seq(i+1), time.Date(2026, 11, 21, 12, 0, i, 0, time.UTC), event.Encode(p.(event.Payload), "loop")))
	}
	return events
}
