package loop

import (
	"fmt"

	"github.com/ralph-loop/ralph/journal/event"
)

// Another host of the pool has the loop: nothing that is done here counts any more, and some of it
// could not be undone.

// fenced lets a fence take effect before any other command is answered.
func fenced(s *State) []Decision {
	for _, c := range s.Commands.Open {
		if c.Kind == event.CommandFence && c.Unauthorized == "" && c.Epoch > s.Ownership.Epoch() {
			return record(event.LoopFenced{Host: c.Host, Epoch: c.Epoch}, delivered(s, c.ID))
		}
	}
	return nil
}

// fencedOff ends a fenced loop at once. It does not wait for its agent: once it has ended, the
// runner kills what still runs, and records nothing of it.
func fencedOff(s *State) []Decision {
	elsewhere := s.Ownership.Elsewhere()
	if elsewhere == "" {
		return nil
	}
	var decisions []Decision
	if s.Phase.Open() {
		decisions = record(conclusion(s))
	}
	for _, c := range s.Commands.Open {
		decisions = append(decisions, refuse(c.ID, "the loop continues on "+elsewhere)...)
	}
	return append(decisions, event.LoopEnded{
		Status: event.ReasonFenced.Status(), Reason: event.ReasonFenced, Result: event.ReasonFenced.Result(),
		Why:     fmt.Sprintf("the loop continues on %s (epoch %d)", elsewhere, s.Ownership.Fenced.Epoch),
		Hint:    fmt.Sprintf("'ralph pool take %s' brings it back", s.Name),
		Changed: s.Changes.Whole(), Edited: s.FileChanges.Unaccepted(), Questions: s.Questions.Unread(),
	})
}
