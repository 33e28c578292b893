package loop

import "github.com/ralph-loop/ralph/journal/event"

// State is the fold of the events so far. It belongs to v, and is not to be changed.
func (v *Verifier) State() *State { return &v.state }

// IsDecision reports whether the rules recorded an event from a state.
func IsDecision(s *State, e event.Event) bool { return decision(s, e) }
