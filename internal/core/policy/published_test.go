package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/journal/event"
)

func TestPullRequestIsRemembered(t *testing.T) {
	const url = "https://github.com/acme/shop/pull/7"
	several := []event.StackedRequest{{Branch: "fix-1", URL: url, State: event.RequestOpen}, {Branch: "fix-2", State: event.RequestOpen}}
	var l Lifecycle
	for _, row := range []struct {
		ended event.SCMEnded
		want  *PullRequest
	}{
		{event.SCMEnded{Failed: "push", Error: "refused"}, nil},
		{event.SCMEnded{Failed: "pr", Error: "no login"}, &PullRequest{Error: "no login"}},
		{event.SCMEnded{Tasks: []string{"pr"}, PR: url}, &PullRequest{URL: url}},
		{event.SCMEnded{Nothing: true}, &PullRequest{URL: url}},
		{event.SCMEnded{Failed: "pr", Error: "no login"}, &PullRequest{URL: url, Error: "no login"}},
		{event.SCMEnded{Tasks: []string{"pr"}, PR: url}, &PullRequest{URL: url}},
		{event.SCMEnded{Tasks: []string{"pr"}, PR: url, PRs: several}, &PullRequest{URL: url, Stack: several}},
		{event.SCMEnded{Failed: "pr", Error: "no login"}, &PullRequest{URL: url, Error: "no login", Stack: several}},
		{event.SCMEnded{Failed: "pr", Error: "refused", PRs: several[:1]}, &PullRequest{URL: url, Error: "refused", Stack: several[:1]}},
	} {
		l.published(row.ended)
		if diff := cmp.Diff(row.want, l.PullRequest); diff != "" {
			t.Errorf("%+v: %s", row.ended, diff)
		}
	}
}

// Only a person can help a pull request that was not made, so the agent does not read of it.
func TestAgentReadsOfFailedPush(t *testing.T) {
	for failed, want := range map[string]string{"push": "refused", "commit": "refused", "pr": ""} {
		var g Verification
		g.Apply(event.SCMEnded{Failed: failed, Error: "refused"}, &Lifecycle{})
		if g.Commit != want {
			t.Errorf("%s: %q", failed, g.Commit)
		}
	}
}
