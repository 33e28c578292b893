package listing

import (
	"strings"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// Group says whether a loop needs a person, works, or has ended. The order is that of a list.
type Group int

// The groups.
const (
	// NeedsYou: nothing more happens before a person acts. The loop waits for a person or is
	// paused; or it ended for a reason that only a person can remove (exit code 4); or its runner
	// died; or its files cannot be read.
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
	case s.Err != nil, s.Died:
		return NeedsYou
	case s.Live.Alive && (WaitsForPerson(s) || s.Head.Status == event.StatusPaused):
		return NeedsYou
	case s.Live.Alive:
		return Working
	case s.Head.Reason != "" && event.Reason(s.Head.Reason).ExitCode() == event.ExitPerson:
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

// Question is what a loop that waits for a person asks, in the words of its agent; empty for any
// other loop. Its control characters are not removed.
func Question(s registry.Status) string {
	if !WaitsForPerson(s) {
		return ""
	}
	return strings.TrimPrefix(strings.TrimPrefix(s.Head.Waiting, forPerson), ": ")
}
