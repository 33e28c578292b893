package loop_test

import (
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// mutation is something that is wrong with a world on purpose.
type mutation struct {
	swallow    func(w *world, file string) bool
	fold       func([]event.Event, *projector.State)
	journal    func(*runner, loop.Journal) loop.Journal
	hands      func(*runner, loop.Hands) loop.Hands
	noSweep    bool
	noTimer    bool
	tidyFirst  bool
	forgetful  bool
	twice      bool
	immortal   bool
	exitsTwice bool
}

func (m mutation) wrap(r *runner) loop.Journal {
	if m.journal != nil {
		return m.journal(r, r.writer)
	}
	return r.writer
}

func (m mutation) hold(r *runner) loop.Hands {
	if m.hands != nil {
		return m.hands(r, r.hands)
	}
	return r.hands
}
