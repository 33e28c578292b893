package projector

import (
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/journal/event"
)

// Loop is what the events of a loop add up to. The zero Loop has folded none. It belongs to one
// goroutine.
type Loop struct{ state loopstate.State }

// Load returns a loop as its files are now. It reads state.json and the events after it, or the
// journal alone if state.json is missing, torn or of another journal. For a folder without a
// journal it returns the zero Loop.
func Load(loopDir string) (*Loop, error) {
	s, err := loopstate.Open(loopDir)
	return &Loop{s}, err
}

// Rebuild returns the loop as its journal alone describes it. It does not read state.json.
func Rebuild(loopDir string) (*Loop, error) {
	s, err := loopstate.Rebuild(loopDir)
	return &Loop{s}, err
}

// Fold takes in the next event. An error means that its payload cannot be read; the Loop must not
// be used then.
func (l *Loop) Fold(e event.Event) error { return l.state.Fold(e) }

// Seq is the number of the last event folded.
func (l *Loop) Seq() event.Seq { return l.state.Seq }

// Begun reports whether the loop has begun. A journal whose runner was killed before it recorded
// the task holds no loop.
func (l *Loop) Begun() bool { return l.state.Begun() }
