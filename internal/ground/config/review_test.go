package config

import (
	"strings"
	"testing"
)

// The reviewers follow the agents, unless there are no reviews.
func TestReviewersFollowTheAgents(t *testing.T) {
	s := Defaults()
	s.Agent.Command = "pi"
	s.Review.Agents = []Agent{{Command: "claude"}, {Command: "codex"}}
	names := func() string { return strings.Join(Names(s.AllAgents()), " ") }
	if got := names(); got != "pi claude codex" {
		t.Errorf("got %s", got)
	}
	s.Review.Agents, s.Review.Agent.Command = nil, "pi"
	if got := names(); got != "pi pi-2" {
		t.Errorf("got %s", got)
	}
	s.Review.Skip = true
	if got := names(); got != "pi" {
		t.Errorf("got %s", got)
	}
}

func TestReviewersAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		`{"review": {"agent": {"command": "a"}, "agents": [{"command": "b"}]}}`: "review.agents: review.agent.command is set too",
		`{"review": {"agents": [{"model": "opus"}]}}`:                           "review.agents[0].command: is missing",
		`{"review": {"agent": {"command": "'a b"}}}`:                            "review.agent.command: closing quote",
		`{"review": {"agents": [{"command": "a", "cap": 3}]}}`:                  "unknown key",
	} {
		_, _, err := Thaw([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for _, key := range Keys() {
		if strings.HasPrefix(key.Name, "review.agent") && key.Kind != KindObject && !key.Asked && !strings.Contains(key.Name, "[]") {
			t.Errorf("%s needs no trust", key.Name)
		}
	}
}

// One reviewer in a later layer replaces a list of an earlier one, and likewise the other way.
func TestLaterReviewersReplaceEarlier(t *testing.T) {
	l := Loaded{Settings: Defaults(), Origins: map[string]Origin{}}
	l.Settings.Review.Agents = []Agent{{Command: "a"}}
	l.Settings.Review.Agent = Agent{Command: "b", Model: "m"}
	l.Origins["review.agents"] = Origin{Layer: LayerFlags}
	l.Origins["review.agent.command"] = Origin{}
	l.chooseAgents()
	if l.Settings.Review.Agent.Command != "" || len(l.Settings.Review.Agents) != 1 {
		t.Errorf("%+v", l.Settings.Review)
	}
	l.Settings.Review.Agent = Agent{Command: "b"}
	l.Origins["review.agents"], l.Origins["review.agent.command"] = Origin{}, Origin{Layer: LayerFlags}
	l.chooseAgents()
	if l.Settings.Review.Agent.Command != "b" || l.Settings.Review.Agents != nil {
		t.Errorf("%+v", l.Settings.Review)
	}
}

func TestReviewerNeedsACommand(t *testing.T) {
	l, err := Load(Source{Flags: map[string]string{"review.agent.model": "opus"}})
	if err != nil || len(l.Warnings) != 1 || !strings.Contains(l.Warnings[0], "has no effect without review.agent.command") {
		t.Errorf("%q, %v", l.Warnings, err)
	}
}
