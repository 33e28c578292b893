package projector_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/testkit/golden"
	"github.com/ralph-loop/ralph/internal/testkit/testevent"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

func TestView(t *testing.T) {
	usd := 0.5
	loop := fold(t,
		event.LoopStarted{Name: "demo", Project: "/p", Agent: event.Agent{Protocol: "pi"}, Rules: event.Rules{MaximumIterations: 4}},
		event.Decided{Do: event.DoBegin, Iteration: 1}, event.IterationStarted{N: 1},
		event.Decided{Do: event.DoStart, Iteration: 1}, event.AgentStarted{PID: 7, Costs: true},
		event.AgentUsed{In: 3, Out: 2, USD: &usd}, event.AgentFinished{Outcome: event.TurnOK}, event.AgentExited{},
		event.IterationEnded{N: 1, Outcome: event.OutcomeDone, Usage: event.Usage{In: 3, Out: 2, USD: &usd}, Tools: 1},
		event.Decided{Do: event.DoBegin, Iteration: 2}, event.IterationStarted{N: 2},
		event.CommandReceived{ID: "c", Kind: "steer", From: "cli", Text: "x"},
	)
	text, err := json.MarshalIndent(loop.View(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/view.json", append(text, '\n'))
}

// What an agent says controls no terminal, and a view stays small. A path is one that can be
// opened.
func TestViewIsCleanAndBounded(t *testing.T) {
	const hostile = "a\x1b[2J\u202eb\r\nc"
	many := strings.Repeat("x", 1<<16)
	questions := []event.Payload{
		event.LoopStarted{Name: "demo", Project: "/p\x1b[2J", Agent: event.Agent{Protocol: "pi", Version: hostile}},
		event.QuestionAsked{Number: 1, Text: hostile, Choices: []string{hostile}},
		event.CommandReceived{ID: "c", Kind: "steer", From: hostile, Text: many},
		event.LoopEnded{Status: event.StatusFailed, Reason: event.ReasonAuth, Why: hostile, Hint: hostile},
	}
	v := fold(t, questions...).View()
	if v.Project != "/p\x1b[2J" {
		t.Errorf("the project is %q", v.Project)
	}
	v.Project = ""
	text, err := json.Marshal(v)
	if err != nil || strings.Contains(string(text), `\u001b`) || strings.Contains(string(text), "\u202e") || strings.Contains(string(text), `\r`) {
		t.Errorf("%v: %s", err, text)
	}
	if want := "a\ufffdb\nc"; v.Questions[0].Text != want || v.Ended.Why != want || v.NextStep != want {
		t.Errorf("%q, %q and %q", v.Questions[0].Text, v.Ended.Why, v.NextStep)
	}
	if len(text) > 1<<14 {
		t.Errorf("it has %d bytes", len(text))
	}
}

// fold returns the loop of some events.
func fold(t *testing.T, all ...event.Payload) *projector.Loop {
	t.Helper()
	var loop projector.Loop
	for i, p := range all {
		if err := loop.Fold(testevent.Of(event.Seq(i+1), time.Unix(0, 0), event.Encode(p, "loop"))); err != nil {
			t.Fatal(err)
		}
	}
	return &loop
}

func TestViewOfStories(t *testing.T) {
	events := []event.Payload{
		event.LoopStarted{Name: "demo", Rules: event.Rules{Stories: true}}, event.Decided{Do: event.DoBegin, Iteration: 1},
		event.StoriesRead{Mode: event.ModeReview, Story: "US-002", Stories: []event.StoryState{
			{ID: "US-001", Title: "Store a note", Passes: true, ReviewStatus: event.StoryApproved, ReviewCount: 1},
			{ID: "US-002", Title: "List the notes", ReviewStatus: event.StoryNeedsReview},
		}},
		event.IterationStarted{N: 1},
	}
	if v := fold(t, events[:2]...).View(); v.Story != nil || v.Plan != nil || v.Stories != 0 {
		t.Errorf("before the file was read: %+v", v)
	}
	v := fold(t, events...).View()
	if v.Stories != 2 || v.StoriesDone != 1 || v.Plan == nil || len(v.Plan.Stories) != 2 || v.Plan.Stories[1].ReviewStatus != event.StoryNeedsReview {
		t.Errorf("%d of %d, %+v", v.StoriesDone, v.Stories, v.Plan)
	}
	if diff := cmp.Diff(&projector.Story{Mode: event.ModeReview, ID: "US-002", Title: "List the notes"}, v.Story); diff != "" {
		t.Error(diff)
	}
}

// The next step after an end is the hint of the end, else the setting that ended the loop.
func TestNextSteps(t *testing.T) {
	began := event.LoopStarted{Name: "night"}
	ended := func(p event.LoopEnded) []event.Payload { return []event.Payload{began, p} }
	for want, events := range map[string][]event.Payload{
		"log in": ended(event.LoopEnded{Status: event.StatusFailed, Reason: event.ReasonAuth, Hint: "log in"}),
		"'ralph start night --resume --set limits.cost=…' raises it": ended(event.LoopEnded{Status: event.StatusStopped, Reason: event.ReasonCost}),
		"'ralph resume night' continues it":                          {began, event.LoopWaiting{For: event.WaitPerson, Why: "which schema?"}},
		"'ralph answer night 1 TEXT' answers question 1":             {began, event.QuestionAsked{Number: 1, Text: "Tabs?"}},
		"": {began},
	} {
		if v := fold(t, events...).View(); v.NextStep != want {
			t.Errorf("%q, not %q", v.NextStep, want)
		}
	}
	died := fold(t, began).ViewOf(registry.Status{Entry: registry.Entry{Name: "night"}})
	if !died.Died || died.State != "died" || died.Group != projector.NeedsYou || died.NextStep != "'ralph start night --resume' resumes it" {
		t.Errorf("%+v", died.Situation)
	}
}

// A loop that went to another host of a pool has not died, whatever its last record is, and needs
// no person.
func TestViewOfFencedLoop(t *testing.T) {
	began, fenced := event.LoopStarted{Name: "night"}, event.LoopFenced{Host: "ki\x1b[2Jln", Epoch: 2}
	completed := event.LoopEnded{Status: event.StatusCompleted, Reason: event.ReasonPromise}
	for name, events := range map[string][]event.Payload{
		"killed after the fence": {began, event.Decided{Do: event.DoBegin, Iteration: 1}, event.QuestionAsked{Number: 1, Text: "Tabs?"}, fenced},
		"ended":                  {began, fenced, event.LoopEnded{Status: event.StatusStopped, Reason: event.ReasonFenced}},
		"had completed here":     {began, completed, fenced},
	} {
		v := fold(t, events...).ViewOf(registry.Status{Entry: registry.Entry{Name: "night"}})
		if v.State != "continues on kiln" || v.Died || v.Group != projector.Over || v.NextStep != "'ralph pool take night' brings it back" {
			t.Errorf("%s: %+v, %+v", name, v.Situation, v.Summary)
		}
	}
	moved := fold(t, began, event.LoopMoved{Host: "kiln", From: "mill", Epoch: 3}, event.LoopResumed{}).View()
	if moved.Epoch != 3 || moved.ContinuesOn != "" {
		t.Errorf("after a take-over: epoch %d, on %q", moved.Epoch, moved.ContinuesOn)
	}
}
