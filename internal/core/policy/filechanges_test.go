package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestFileChangesNameTheAuthor(t *testing.T) {
	sealed := event.GuardrailSnapshotted{Files: []event.SnapshotFile{{Path: "check.sh", Kind: "file", SHA256: "ab", Protected: true}}}
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
		"after a check, changed files are a person's":         {[]event.Payload{sealed, start, event.IterationChecked{}, event.LoopEnded{}, event.LoopResumed{}}, 0, false},
		"before the first agent they are, too":                {[]event.Payload{sealed, died}, 0, false},
		"a person may say that they are right":                {[]event.Payload{sealed, start, event.LoopResumed{Died: true, AcceptedChanges: true}}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			var s policy.FileChanges
			for _, p := range row.story {
				s.Apply(1, p)
			}
			if len(s.Files) != row.files || s.AgentRan != row.held {
				t.Errorf("%d files, held %v", len(s.Files), s.AgentRan)
			}
		})
	}
}

func TestFileChangesAreBounded(t *testing.T) {
	var many event.GuardrailSnapshotted
	for i := range 1000 {
		many.Files = append(many.Files, event.SnapshotFile{Path: fmt.Sprint(i)})
	}
	var s policy.FileChanges
	if s.Apply(1, many); len(s.Files) != 256 {
		t.Errorf("%d files", len(s.Files))
	}
}

// What an agent changed stays named until a person accepts it.
func TestFileEditsStayUntilAccepted(t *testing.T) {
	const was, agents, persons = "aa", "bb", "cc"
	sealed := func(sum string) event.Payload {
		return event.GuardrailSnapshotted{Files: []event.SnapshotFile{{Path: "check.sh", Role: "program", Kind: "file", SHA256: sum}, {Path: "s.json", Role: "settings"}}}
	}
	edited := event.GuardrailEdited{Path: "check.sh", How: "changed", Is: agents, Guardrails: []string{"sh check.sh"}}
	appeared := event.GuardrailEdited{Path: "s.json", How: "appeared", Is: agents}
	old := event.GuardrailEdited{Path: "check.sh", How: "changed"}
	checked, ended, resumed := event.IterationChecked{}, event.LoopEnded{}, event.LoopResumed{}
	const named, settings = "check.sh, a file of the guardrail sh check.sh, was changed in iteration 7, and no person has accepted that", "the settings file s.json appeared in iteration 7, and no person has accepted that"
	for name, row := range map[string]struct {
		story []event.Payload
		want  string
	}{
		"in the same iteration":                        {[]event.Payload{sealed(was), edited}, named},
		"in the next, though it is sealed now":         {[]event.Payload{sealed(was), edited, checked, sealed(agents)}, named},
		"when the loop is resumed":                     {[]event.Payload{sealed(was), edited, checked, ended, resumed}, named},
		"when it is sealed again after that":           {[]event.Payload{sealed(was), edited, checked, ended, resumed, sealed(agents)}, named},
		"not what was put back":                        {[]event.Payload{sealed(was), event.GuardrailEdited{Path: "check.sh", Restored: true, Is: agents}}, ""},
		"not what a person accepts":                    {[]event.Payload{sealed(was), edited, checked, ended, event.LoopResumed{AcceptedChanges: true}}, ""},
		"not what a person has written again":          {[]event.Payload{sealed(was), edited, checked, ended, resumed, sealed(persons)}, ""},
		"not what a person has put back":               {[]event.Payload{sealed(was), edited, checked, ended, resumed, sealed(was)}, ""},
		"not what the agent itself has put back":       {[]event.Payload{sealed(was), edited, sealed(agents), event.GuardrailEdited{Path: "check.sh", How: "changed", Is: was}}, ""},
		"what it has changed again":                    {[]event.Payload{sealed(was), edited, sealed(agents), event.GuardrailEdited{Path: "check.sh", How: "changed", Is: "dd"}, checked, sealed("dd")}, named},
		"what is not there any more":                   {[]event.Payload{sealed(was), event.GuardrailEdited{Path: "check.sh", How: "vanished", Guardrails: []string{"sh check.sh"}}}, strings.Replace(named, "was changed", "vanished", 1)},
		"what vanished and a person has written again": {[]event.Payload{sealed(was), event.GuardrailEdited{Path: "check.sh", How: "vanished"}, sealed(persons)}, ""},
		"settings by their role when they were sealed": {[]event.Payload{sealed(was), appeared}, settings},
		"of an older version, until it is accepted":    {[]event.Payload{sealed(was), old, checked, sealed(agents), resumed, sealed(persons)}, "the guardrail file check.sh was changed in iteration 7, and no person has accepted that"},
		"not in a loop that begins":                    {[]event.Payload{sealed(was), edited, event.LoopStarted{}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var s policy.FileChanges
			for _, p := range row.story {
				s.Apply(7, p)
			}
			got := ""
			for _, f := range s.Unaccepted() {
				got += f.String()
			}
			if got != row.want {
				t.Errorf("named: %q\nnot:   %q", got, row.want)
			}
		})
	}
}

func TestGivenSettings(t *testing.T) {
	start := event.Decided{Do: event.DoStart}
	given := func(sum string) *event.Settings { return &event.Settings{SHA256: sum} }
	opened := func(sealed bool) event.SegmentOpened {
		return event.SegmentOpened{Prev: &event.PrevSegment{Name: "000001-i0001.jsonl", Sealed: sealed}}
	}
	for name, row := range map[string]struct {
		story []event.Payload
		want  policy.GivenSettings
	}{
		"when it begins":                      {[]event.Payload{event.LoopStarted{Settings: given("a")}}, policy.GivenSettings{SHA256: "a"}},
		"once an agent is at work":            {[]event.Payload{event.LoopStarted{Settings: given("a")}, event.Decided{Do: event.DoBegin}, start}, policy.GivenSettings{SHA256: "a", AgentRan: true}},
		"over its end":                        {[]event.Payload{event.LoopStarted{Settings: given("a")}, start, event.IterationChecked{}, event.LoopEnded{}}, policy.GivenSettings{SHA256: "a", AgentRan: true}},
		"a person gives it again":             {[]event.Payload{event.LoopStarted{Settings: given("a")}, start, event.LoopResumed{Settings: given("b")}}, policy.GivenSettings{SHA256: "b"}},
		"an older version resumed it":         {[]event.Payload{event.LoopStarted{Settings: given("a")}, start, event.LoopResumed{}, start}, policy.GivenSettings{}},
		"the runner begins a segment":         {[]event.Payload{event.LoopStarted{Settings: given("a")}, start, opened(true)}, policy.GivenSettings{SHA256: "a", AgentRan: true}},
		"one resumed a dead loop, and died":   {[]event.Payload{event.LoopStarted{Settings: given("a")}, start, opened(false)}, policy.GivenSettings{SHA256: "a"}},
		"one resumed an ended loop, and died": {[]event.Payload{event.LoopStarted{Settings: given("a")}, start, event.LoopEnded{}, opened(true)}, policy.GivenSettings{SHA256: "a"}},
		"its agent":                           {[]event.Payload{event.LoopStarted{Settings: given("a")}, start, opened(false), event.LoopResumed{Settings: given("b")}, start}, policy.GivenSettings{SHA256: "b", AgentRan: true}},
		"in a journal of an older version":    {[]event.Payload{event.LoopStarted{}, start}, policy.GivenSettings{}},
	} {
		t.Run(name, func(t *testing.T) {
			var g policy.GivenSettings
			var l policy.Lifecycle
			for _, p := range row.story {
				fold(&g, &l, noon, p)
			}
			if g != row.want {
				t.Errorf("%+v, not %+v", g, row.want)
			}
		})
	}
}
