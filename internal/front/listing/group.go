package listing

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// Group says whether a loop needs a person, works, or has ended. The order is that of a list.
type Group int

// The groups.
const (
	// NeedsYou: a person has to act. A question of its agent has no answer, also while it works on
	// or after it ended; or it waits for a person or is paused; or it failed, or ended for a reason
	// that only a person can remove (exit code 4); or its runner died; or its files cannot be read.
	// Once it has no runner, a person can dismiss it until it works again.
	NeedsYou Group = iota
	Working        // it has a runner, and continues by itself
	Ended          // it has ended, or its folder is gone
)

// Groups are all groups in the order of a list.
var Groups = []Group{NeedsYou, Working, Ended}

func (g Group) String() string { return [...]string{"needs you", "working", "ended"}[g] }

// GroupOf returns the group of a loop.
func GroupOf(s registry.Status) Group {
	switch {
	case s.Gone:
		return Ended
	case !s.Live.Alive && s.Err == nil && s.Dismissed > 0 && s.Head.Seq <= s.Dismissed:
		return Ended
	case s.Err != nil, s.Died:
		return NeedsYou
	case s.Head.Questions > 0:
		return NeedsYou
	case s.Live.Alive && (WaitsForPerson(s) || s.Head.Status == event.StatusPaused):
		return NeedsYou
	case s.Live.Alive:
		return Working
	case s.Head.Status == event.StatusFailed, s.Head.Reason != "" && event.Reason(s.Head.Reason).ExitCode() == event.ExitPerson:
		return NeedsYou
	}
	return Ended
}

// forPerson begins what a loop waits for if it waits for a person.
const forPerson = "a person"

// WaitsForPerson reports whether a loop with a runner waits for a person's answer.
func WaitsForPerson(s registry.Status) bool {
	return s.Live.Alive && s.Head.Status == event.StatusWaiting && strings.HasPrefix(s.Head.Waiting, forPerson)
}

// OpenQuestions are the questions of a loop's agent that have no answer, in their order. If its
// files cannot be read, it has none.
func OpenQuestions(s registry.Status) []projector.Question {
	if s.Head.Questions == 0 {
		return nil // as for nearly all loops: nothing is read
	}
	loop, err := projector.Load(s.Dir)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(loop.View().Questions, func(q projector.Question) bool { return !q.Open() })
}

// Asks says how many questions of a loop's agent have no answer, unless its state says so already;
// empty if there are none.
func Asks(s registry.Status) string {
	if n := s.Head.Questions; n > 1 || n == 1 && !(WaitsForPerson(s) && s.Head.Awaited > 0) {
		return units.Quantity(n, "question")
	}
	return ""
}

// Question is what a loop that waits for a person asks, in the words of its agent; empty for any
// other loop. Its control characters are not removed.
func Question(s registry.Status) string {
	if !WaitsForPerson(s) {
		return ""
	}
	return strings.TrimPrefix(strings.TrimPrefix(s.Head.Waiting, forPerson), ": ")
}
