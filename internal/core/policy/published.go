package policy

import "github.com/ralph-loop/ralph/journal/event"

// PullRequest is what became of the task pr.
type PullRequest struct {
	URL   string `json:"url,omitempty"`   // of the last one that was made or changed
	Error string `json:"error,omitempty"` // why the last try failed; empty if it did not
}

// published notes what became of the task pr.
func (l *Lifecycle) published(p event.SCMEnded) {
	was := l.PullRequest
	switch {
	case p.PR != "":
		l.PullRequest = &PullRequest{URL: firstBytes(p.PR, nameMost)}
	case p.Failed == taskPullRequest:
		l.PullRequest = &PullRequest{Error: firstBytes(p.Error, problemMost)}
		if was != nil {
			l.PullRequest.URL = was.URL
		}
	}
}

// taskPullRequest is the task of version control that makes a pull request.
const taskPullRequest = "pr"
