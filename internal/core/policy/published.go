package policy

import (
	"cmp"
	"slices"

	"github.com/ralph-loop/ralph/journal/event"
)

// PullRequest is what became of the task pr.
type PullRequest struct {
	URL   string `json:"url,omitempty"`   // of the last one that was made or changed
	Error string `json:"error,omitempty"` // why the last try failed; empty if it did not
	// Stack are the pull requests of a branch that became several.
	Stack []event.StackedRequest `json:"stack,omitempty"`
}

// stackMost bounds what a checkpoint holds.
const stackMost = 64

// published notes what became of the task pr.
func (l *Lifecycle) published(p event.SCMEnded) {
	failed := p.Failed == taskPullRequest
	if p.PR == "" && !failed {
		return
	}
	now := PullRequest{URL: firstBytes(p.PR, nameMost)}
	if l.PullRequest != nil {
		now.URL, now.Stack = cmp.Or(now.URL, l.PullRequest.URL), l.PullRequest.Stack
	}
	if failed {
		now.Error = firstBytes(p.Error, problemMost)
	}
	if len(p.PRs) > 0 {
		now.Stack = slices.Clone(p.PRs[:min(len(p.PRs), stackMost)])
		for i := range now.Stack {
			r := &now.Stack[i]
			r.Branch, r.URL, r.Note = firstBytes(r.Branch, nameMost), firstBytes(r.URL, nameMost), firstBytes(r.Note, nameMost)
		}
	}
	l.PullRequest = &now
}

// taskPullRequest is the task of version control that makes a pull request.
const taskPullRequest = "pr"
