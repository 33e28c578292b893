package fleet

import (
	"fmt"
	"strings"
)

// A Phase is how far a part is.
type Phase string

// The phases.
const (
	Queued  Phase = "queued"  // no host has it
	Working Phase = "working" // a host has it, and it has not ended
	Done    Phase = "done"    // it has completed
	Failed  Phase = "failed"  // it has ended otherwise, was given up or withdrawn
	Stopped Phase = "stopped" // it needs one that failed or is stopped
)

// A State is how far a part is, and why for people.
type State struct {
	Name  string `json:"name"` // of its loop
	Phase Phase  `json:"phase"`
	Why   string `json:"why,omitempty"`
}

// A Decision is whether a part may be claimed: Begin, or why not.
type Decision struct {
	Begin   bool
	Stopped bool // it does not begin unless a person does something
	Why     string
}

// stopped begins the reason of what is stopped.
const stopped = "does not begin: it "

// Decide says whether a part may begin, from the states of those that it needs. One that failed
// counts first: waiting for the others would be in vain.
func Decide(needs []State) Decision {
	var waits []string
	for _, need := range needs {
		switch need.Phase {
		case Done:
		case Failed:
			return Decision{Stopped: true, Why: fmt.Sprintf("%sneeds %s: %s", stopped, need.Name, need.Why)}
		case Stopped: // by the first one that failed
			return Decision{Stopped: true, Why: fmt.Sprintf("%sneeds %s, which %s", stopped, need.Name, strings.TrimPrefix(need.Why, stopped))}
		default:
			waits = append(waits, need.Name)
		}
	}
	if len(waits) > 0 {
		return Decision{Why: waitsFor + strings.Join(waits, ", ") + toComplete}
	}
	return Decision{Begin: true}
}

const (
	waitsFor   = "waits for "
	toComplete = " to be completed"
)

// IsWait reports whether a reason is that of [Decide] for parts that have not completed.
func IsWait(why string) bool {
	return strings.HasPrefix(why, waitsFor) && strings.HasSuffix(why, toComplete)
}

// Judge returns the states of all parts. A part is stopped if one that it needs has failed, or is
// stopped itself. Each part comes after those that it needs; what does not is not followed.
func (f Fleet) Judge(states []State) []State {
	all := append([]State{}, states...)
	for i, part := range f.Parts {
		if i >= len(all) || all[i].Phase != Queued {
			continue
		}
		var needs []State
		for _, n := range part.Needs {
			if n >= 0 && n < i {
				needs = append(needs, all[n])
			}
		}
		switch d := Decide(needs); {
		case d.Stopped:
			all[i].Phase, all[i].Why = Stopped, d.Why
		case !d.Begin:
			all[i].Why = d.Why
		}
	}
	return all
}

// Summary says how far a fleet is, in one line. Of a submission that was cut off, parts are
// missing.
func (f Fleet) Summary(states []State) string {
	count := map[Phase]int{}
	for _, s := range states {
		count[s.Phase]++
	}
	text := fmt.Sprintf("%d of %d completed", count[Done], len(f.Parts))
	for _, phase := range []Phase{Working, Queued, Failed, Stopped} {
		if count[phase] > 0 {
			text += fmt.Sprintf(", %d %s", count[phase], phase)
		}
	}
	if !f.Complete {
		text += "; not all are submitted: the same 'ralph pool submit' goes on"
	}
	return text
}

// Over reports whether nothing of a fleet will change unless a person does something.
func Over(states []State) bool {
	for _, s := range states {
		if s.Phase == Queued || s.Phase == Working {
			return false
		}
	}
	return true
}
