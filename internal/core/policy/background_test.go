package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestBackgroundWorkIsReported(t *testing.T) {
	background := func(names string) event.Payload {
		return event.AgentNoticed{What: event.NoticeBackground, Text: names}
	}
	for name, row := range map[string]struct {
		story []event.Payload
		want  []string
	}{
		"what was there at the end": {
			[]event.Payload{background("make test"), background("make test, look"), event.IterationEnded{N: 1, Outcome: event.OutcomeDone}},
			[]string{"work that was put into the background had not ended: make test, look"},
		},
		"not what had ended": {
			[]event.Payload{background("make test"), background(""), event.IterationEnded{N: 1, Outcome: event.OutcomeDone}},
			nil,
		},
		"not what another notice says": {
			[]event.Payload{event.AgentNoticed{What: "agent", Text: "make test"}, event.IterationEnded{N: 1, Outcome: event.OutcomeDone}},
			nil,
		},
		"not twice": {
			[]event.Payload{
				background("make test"), event.IterationEnded{N: 1, Outcome: event.OutcomeDone},
				event.IterationStarted{N: 2}, event.IterationEnded{N: 2, Outcome: event.OutcomeDone},
			},
			nil,
		},
		"an endless name is cut": {
			[]event.Payload{background(strings.Repeat("x", 10_000)), event.IterationEnded{N: 1, Outcome: event.OutcomeDone}},
			[]string{"work that was put into the background had not ended: " + strings.Repeat("x", 500)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, l := &policy.Verification{}, &policy.Lifecycle{}
			for _, p := range row.story {
				fold(g, l, noon, p)
			}
			if got := throughJSON(t, g).Left; !slices.Equal(got, row.want) {
				t.Errorf("left %q, want %q", got, row.want)
			}
		})
	}
}
