package agent

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/redact"
	"github.com/ralph-loop/ralph/journal/event"
)

const hidden = "hunter2-hunter2-hunter2"

// masked plays facts through a streamRedactor and masks each as the journal does.
func masked(facts []event.Payload) (texts []string, types []event.Type) {
	masker := redact.New([]string{"DEMO_TOKEN=" + hidden})
	h := streamRedactor{secrets: masker}
	for _, fact := range facts {
		h.pass(fact, func(p event.Payload) {
			data, _ := masker.Mask(event.AppendData(nil, p))
			texts, types = append(texts, string(data)), append(types, p.EventType())
		})
	}
	return texts, types
}

func said(text string, final bool) event.Payload {
	return event.AgentSaid{Block: "1.0", Text: event.Plain(text), Final: final}
}

func TestDeltasAreMasked(t *testing.T) {
	text := "the token is " + hidden + " and that is all"
	for cut := 1; cut < len(text); cut++ {
		for second := cut; second < len(text); second += 7 {
			texts, _ := masked([]event.Payload{
				said(text[:cut], false), said(text[cut:second], false), said(text[second:], false), said("", true),
			})
			all := strings.Join(texts, "\n")
			for n := 6; n <= len(hidden); n++ {
				if strings.Contains(all, hidden[:n]) || strings.Contains(all, hidden[len(hidden)-n:]) {
					t.Fatalf("cut at %d and %d, the journal holds %d bytes of the secret:\n%s", cut, second, n, all)
				}
			}
		}
	}
}

func TestWithheldTextComesFirst(t *testing.T) {
	texts, types := masked([]event.Payload{
		said("half of it: "+hidden[:8], false),
		event.ToolCalled{ID: "t1", Name: "bash"},
		event.AgentThought{Block: "2.0", Text: event.Plain(hidden[:5])},
		event.AgentFinished{Outcome: "ok"},
	})
	want := []event.Type{
		event.TypeAgentSaid, event.TypeAgentSaid, event.TypeToolCalled, event.TypeAgentThought, event.TypeAgentFinished,
	}
	if len(types) != len(want) {
		t.Fatalf("got %v\n%s", types, strings.Join(texts, "\n"))
	}
	for i := range want {
		if types[i] != want[i] {
			t.Errorf("event %d is %s, want %s", i, types[i], want[i])
		}
	}
	if !strings.Contains(texts[1], hidden[:8]) {
		t.Errorf("what was kept back is %s", texts[1])
	}
}
