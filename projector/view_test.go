package projector_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/ground/frame"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

func TestView(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	usd := 0.5
	ended := event.IterationEnded{N: 1, Outcome: event.OutcomeDone, Usage: event.Usage{In: 3, Out: 2, USD: &usd}, Tools: 1}
	var loop projector.Loop
	for i, p := range []event.Payload{
		event.LoopStarted{Name: "demo", Project: "/p", Agent: event.Agent{Protocol: "pi"}, Rules: event.Rules{MaximumIterations: 4}},
		event.Decided{Do: event.DoBegin, Iteration: 1}, event.IterationStarted{N: 1},
		event.Decided{Do: event.DoStart, Iteration: 1}, event.AgentStarted{PID: 7, Costs: true},
		event.AgentUsed{In: 3, Out: 2, USD: &usd}, event.AgentFinished{Outcome: event.TurnOK}, event.AgentExited{},
		ended, event.Decided{Do: event.DoBegin, Iteration: 2}, event.IterationStarted{N: 2},
		event.CommandReceived{ID: "c", Kind: "steer", From: "cli", Text: "x"},
	} {
		line, _ := frame.Append(nil, frame.Stamp{Seq: event.Seq(i + 1), At: noon}, event.Encode(p, "loop"), 0)
		e, err := event.Parse(line)
		if err == nil {
			err = loop.Fold(e)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	v := loop.View()
	if v.Last == nil || v.Last.Outcome != event.OutcomeDone || v.Last.Usage.In != 3 || v.Last.LastSeq != 9 {
		t.Errorf("the last iteration: %+v", v.Last)
	}
	in, out := int64(3), int64(2)
	want := projector.View{
		Summary: registry.Summary{
			Seq: 12, Status: event.StatusRunning, Iteration: 2, MaximumIterations: 4, Since: noon, At: noon, Cost: &usd,
			TokensIn: &in, TokensOut: &out, Agent: "pi",
		},
		Name: "demo", Project: "/p", Agents: []event.Agent{{Protocol: "pi"}}, Begun: 2, Open: true, Doing: "its prompt is ready", Rules: event.Rules{MaximumIterations: 4},
		Used:     event.Usage{In: 3, Out: 2, USD: &usd},
		Commands: []event.CommandReceived{{ID: "c", Kind: "steer", From: "cli", Text: "x"}},
		More:     "up to 2 more iterations",
	}
	v.Last = nil
	if diff := cmp.Diff(want, v); diff != "" {
		t.Error(diff)
	}
}

func TestViewOfStories(t *testing.T) {
	var loop projector.Loop
	read := event.StoriesRead{Mode: event.ModeReview, Story: "US-002", Stories: []event.StoryState{
		{ID: "US-001", Title: "Store a note", Passes: true, ReviewStatus: event.StoryApproved, ReviewCount: 1},
		{ID: "US-002", Title: "List the notes", ReviewStatus: event.StoryNeedsReview},
	}}
	for i, p := range []event.Payload{
		event.LoopStarted{Name: "demo", Rules: event.Rules{Stories: true}}, event.Decided{Do: event.DoBegin, Iteration: 1}, read, event.IterationStarted{N: 1},
	} {
		if i == 2 {
			if v := loop.View(); v.Story != nil || v.Stories != 0 {
				t.Errorf("before the file was read: %+v", v)
			}
		}
		line, _ := frame.Append(nil, frame.Stamp{Seq: event.Seq(i + 1), At: time.Unix(0, 0)}, event.Encode(p, "loop"), 0)
		e, err := event.Parse(line)
		if err == nil {
			err = loop.Fold(e)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	v := loop.View()
	if v.Stories != 2 || v.StoriesDone != 1 {
		t.Errorf("%d of %d", v.StoriesDone, v.Stories)
	}
	if diff := cmp.Diff(&projector.Story{Mode: event.ModeReview, ID: "US-002", Title: "List the notes"}, v.Story); diff != "" {
		t.Error(diff)
	}
}
