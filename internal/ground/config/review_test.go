package config

import (
	"strings"
	"testing"
)

// The reviewers follow the agents, unless there are no reviews.
func TestReviewersFollowTheAgents(t *testing.T) {
	s := Defaults()
	s.Agent = AgentNames{"pi"}
	s.Review.Agent = AgentNames{"claude", "codex"}
	names := func() string { return strings.Join(Names(s.AllAgents()), " ") }
	if got := names(); got != "pi claude codex" {
		t.Errorf("got %s", got)
	}
	s.Review.Agent = AgentNames{"pi"}
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
		`{"review": {"agent": "'a b"}}`:      "review.agent: closing quote",
		`{"review": {"agent": ["a", ""]}}`:   "review.agent: must not be empty",
		`{"review": {"agent": ["a", true]}}`: "review.agent[1]: want a string, got true",
	} {
		_, _, err := Thaw([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for _, key := range Keys() {
		if strings.HasPrefix(key.Name, "review.agent") && !key.Asked {
			t.Errorf("%s needs no trust", key.Name)
		}
	}
}
