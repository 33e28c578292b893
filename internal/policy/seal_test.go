package policy_test

import (
	"fmt"
	"testing"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestWhoseDoingAChangedGuardrailIs(t *testing.T) {
	sealed := event.GuardrailSealed{Files: []event.SealedFile{{Path: "check.sh", Kind: "file", SHA256: "ab", Protected: true}}}
	start, died := event.Decided{Do: event.DoStart}, event.LoopResumed{Died: true}
	for name, row := range map[string]struct {
		story []event.Payload
		files int
		held  bool
	}{
		"nothing is sealed at the beginning":                  {[]event.Payload{event.LoopStarted{}}, 0, false},
		"without guardrails nothing is held":                  {[]event.Payload{event.LoopStarted{}, start}, 0, false},
		"what is sealed is not held before an agent is asked": {[]event.Payload{sealed, event.Decided{Do: event.DoBegin}}, 1, false},
		"it is held when an agent is asked":                   {[]event.Payload{sealed, start}, 1, true},
		"it is held in the iteration after a limit":           {[]event.Payload{sealed, start, event.IterationEnded{Outcome: event.OutcomeLimited}, event.Decided{Do: event.DoBegin}}, 1, true},
		"a check that could not look changes nothing":         {[]event.Payload{sealed, start, event.Decided{Do: event.DoCheck}, event.EffectFailed{Do: event.DoCheck}}, 1, true},
		"a check that looked ends it":                         {[]event.Payload{sealed, start, event.Decided{Do: event.DoCheck}, event.IterationChecked{}}, 1, false},
		"it outlives a runner that died":                      {[]event.Payload{sealed, start, died}, 1, true},
		"and a second one":                                    {[]event.Payload{sealed, start, died, event.Decided{Do: event.DoBegin}, died}, 1, true},
		"and a loop that was stopped in mid-turn":             {[]event.Payload{sealed, start, event.LoopEnded{}, event.LoopResumed{}}, 1, true},
		"behind a check, files that changed are a person's":   {[]event.Payload{sealed, start, event.IterationChecked{}, event.LoopEnded{}, event.LoopResumed{}}, 0, false},
		"before the first agent they are, too":                {[]event.Payload{sealed, died}, 0, false},
		"a person may say that they are right":                {[]event.Payload{sealed, start, event.LoopResumed{Died: true, Resealed: true}}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			var s policy.Seal
			for _, p := range row.story {
				if err := s.Apply(happened(t, noon, p)); err != nil {
					t.Fatal(err)
				}
			}
			if len(s.Files) != row.files || s.Held != row.held {
				t.Errorf("%d files, held %v", len(s.Files), s.Held)
			}
		})
	}
}

func TestASealIsBounded(t *testing.T) {
	var many event.GuardrailSealed
	for i := range 1000 {
		many.Files = append(many.Files, event.SealedFile{Path: fmt.Sprint(i)})
	}
	var s policy.Seal
	if err := s.Apply(happened(t, noon, many)); err != nil || len(s.Files) != 256 {
		t.Errorf("%d files, %v", len(s.Files), err)
	}
	for _, typ := range []event.Type{event.TypeGuardrailSealed, event.TypeLoopResumed} {
		if err := s.Apply(misspelt(t, typ)); err == nil {
			t.Errorf("%s is misspelt and was taken", typ)
		}
	}
}
