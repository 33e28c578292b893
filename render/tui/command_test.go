package tui

import (
	"reflect"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

func TestTypedCommands(t *testing.T) {
	for line, want := range map[string]inbox.Command{
		"use tabs":                   {Kind: inbox.Steer, Text: "use tabs"},
		"//tmp is full":              {Kind: inbox.Steer, Text: "/tmp is full"},
		"/steer use tabs":            {Kind: inbox.Steer, Text: "use tabs"},
		"/follow-up  then the docs ": {Kind: inbox.FollowUp, Text: "then the docs"},
		"/stop":                      {Kind: inbox.Stop},
		"/stop it is late":           {Kind: inbox.Stop, Text: "it is late"},
		"/stop now":                  {Kind: inbox.StopNow},
		"/stop now, please":          {Kind: inbox.Stop, Text: "now, please"},
		"/pause":                     {Kind: inbox.Pause},
		"/resume":                    {Kind: inbox.Resume},
		"/kill":                      {Kind: inbox.Kill},
		"/set limits.idle = 20m":     {Kind: inbox.Set, Key: "limits.idle", Value: "20m"},
		"/set limits.idle=20m":       {Kind: inbox.Set, Key: "limits.idle", Value: "20m"},
		"/set limits.idle 20m":       {Kind: inbox.Set, Key: "limits.idle", Value: "20m"},
	} {
		if got := Parse(line, projector.View{}); len(got.Commands) != 1 || !reflect.DeepEqual(got.Commands[0], want) || got.Problem != "" {
			t.Errorf("%q: %+v, want %+v", line, got, want)
		}
	}
	for _, line := range []string{"/", "/nonsense", "/follow-up", "/steer ", "/set", "/set x", "/set =3", "/answer", "/pause it"} {
		if got := Parse(line, projector.View{}); got.Problem == "" {
			t.Errorf("%q: %+v and no problem", line, got)
		}
	}
}

func TestAnswerResumesLoop(t *testing.T) {
	got := Parse("/answer use the second one", projector.View{})
	want := []inbox.Command{{Kind: inbox.FollowUp, Text: "use the second one"}, {Kind: inbox.Resume}}
	if !reflect.DeepEqual(got.Commands, want) {
		t.Errorf("%+v", got)
	}
}

func TestAnswerFindsItsQuestion(t *testing.T) {
	one := projector.Question{Number: 1, Text: "Tabs?"}
	two := projector.Question{Number: 2, Text: "Postgres or SQLite?", Blocks: true}
	answered := projector.Question{Number: 3, Text: "Done?", Answer: "yes", AnsweredAt: time.Unix(1, 0)}
	works := projector.View{Questions: []projector.Question{one, two, answered}}
	single := projector.View{Questions: []projector.Question{two, answered}}
	waits := works
	waits.Status, waits.Awaited = event.StatusWaiting, 2
	blocked := works
	blocked.Status = event.StatusWaiting
	both := []inbox.Command{{Kind: inbox.FollowUp, Text: "go on"}, {Kind: inbox.Resume}}
	to := func(n int, text string) []inbox.Command {
		return []inbox.Command{{Kind: inbox.Answer, Question: n, Text: text}}
	}
	for _, c := range []struct {
		line string
		view projector.View
		want []inbox.Command // none is a problem
	}{
		{"/answer 1 tabs, please", works, to(1, "tabs, please")},
		{"/answer 1", works, nil},
		{"/answer sqlite", works, nil},
		{"/answer 3 no", works, nil},
		{"/answer 3 no", single, nil},
		{"/answer sqlite", single, to(2, "sqlite")},
		{"/answer 4 of them", single, to(2, "4 of them")},
		{"/answer sqlite", waits, to(2, "sqlite")},
		{"/answer 1 tabs", waits, to(1, "tabs")},
		{"/answer go on", blocked, both},
		{"/answer go on", projector.View{}, both},
	} {
		if got := Parse(c.line, c.view); !reflect.DeepEqual(got.Commands, c.want) || (got.Problem == "") != (c.want != nil) {
			t.Errorf("%q: %+v, want %+v", c.line, got, c.want)
		}
	}
}

func TestCommandsAreCompleted(t *testing.T) {
	for line, want := range map[string]string{
		"":           "",
		"use":        "use",
		"/":          "/",
		"/f":         "/follow-up ",
		"/st":        "/st",
		"/sto":       "/stop",
		"/re":        "/resume",
		"/set maxim": "/set maximumIterations ",
		"/set limit": "/set limits.",
		"/nothing":   "/nothing",
	} {
		if got, _ := complete(line); got != want {
			t.Errorf("%q becomes %q, want %q", line, got, want)
		}
	}
}
