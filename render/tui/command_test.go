package tui

import (
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/inbox"
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
		if got := Parse(line); len(got.Commands) != 1 || got.Commands[0] != want || got.Problem != "" {
			t.Errorf("%q: %+v, want %+v", line, got, want)
		}
	}
	for _, line := range []string{"/", "/nonsense", "/follow-up", "/steer ", "/set", "/set x", "/set =3", "/answer", "/pause it"} {
		if got := Parse(line); got.Problem == "" {
			t.Errorf("%q: %+v and no problem", line, got)
		}
	}
}

func TestAnswerResumesLoop(t *testing.T) {
	got := Parse("/answer use the second one")
	want := []inbox.Command{{Kind: inbox.FollowUp, Text: "use the second one"}, {Kind: inbox.Resume}}
	if !slices.Equal(got.Commands, want) {
		t.Errorf("%+v", got)
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
