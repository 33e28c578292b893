package main

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
)

// If this ralph understands a line that an earlier one did not, both results are shown.
func TestRedecodeShowsWhatHasChanged(t *testing.T) {
	r := record(t, "night") // of pi
	r.append(event.IterationStarted{N: 1, Prompt: event.Blob{Text: "do it", Bytes: 5}}, event.Decided{Do: event.DoStart, Iteration: 1})
	r.append(event.AgentStarted{PID: 7, Live: true})
	noticed := event.Encode(event.AgentNoticed{What: "tool_execution_start"}, "agent:pi")
	noticed.Iter = 1
	noticed.Raw = []byte(`{"type":"tool_execution_start","toolCallId":"call_1_0","toolName":"bash","args":{"command":"ls"}}`)
	events, err := r.w.Append([]event.Draft{noticed})
	r.must(err)
	r.fold(events)
	got := r.printed(&journalRedecodeVerb{journalPlace: journalPlace{Place: r.dir}})
	for _, want := range []string{
		"event 6, iteration 1, agent:pi\n", `  recorded  agent.noticed {"what":"tool_execution_start"}` + "\n",
		`  today     tool.called {"id":"call_1_0","name":"bash","input":{"command":"ls"}}` + "\n",
		"agents' lines: 1 kept, 1 decode to other events today\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}
