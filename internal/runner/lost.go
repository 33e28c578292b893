package runner

import (
	"errors"
	"fmt"

	"github.com/ralph-loop/ralph/internal/effect"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// The files of a loop may be removed, moved, replaced or cut while it runs: by its agent, which has every right there, or by
// anybody else. Nothing that was there once is made again, because a folder that is half removed would then look like a
// loop that is fine.

// raise tells the driver of a fault, unless it takes nothing more.
func (r *runner) raise(where string, err error) {
	select {
	case r.inputs <- fault(where, err):
	case <-r.over:
	}
}

// flush projects the state, and looks whether the loop's lock still keeps a second runner out. The journal does so
// as well, so that there is time to end in good order.
func (r *runner) flush(s *projector.State) {
	r.project.State(s)
	if err := r.lock.Check(); errors.Is(err, registry.ErrLockGone) {
		r.unlocked.Do(func() { go r.raise("lock", &effect.VanishedError{Part: "the loop's lock", Err: err}) })
	}
}

func (r *runner) warn(err error) {
	if r.Warn != nil {
		r.Warn(err)
	}
}

// unrecorded is the end of a loop whose journal was taken away or cut under its runner, which no journal holds; nil where
// that is not what went wrong.
func (r *runner) unrecorded(err error) *event.LoopEnded {
	ended := event.LoopEnded{Status: event.ReasonDisk.Status(), Reason: event.ReasonDisk, Result: event.ReasonDisk.Result()}
	if gone, ok := errors.AsType[*journal.VanishedError](err); ok {
		ended.Why = fmt.Sprintf("the journal vanished: %v. What the loop recorded is lost with it", gone)
		ended.Hint = fmt.Sprintf("put the folder back if you have it and 'ralph start %s --resume', else begin the loop again with 'ralph start %s'; "+
			"look at the work tree first: what removed the journal may have removed more", r.Name, r.Name)
		return &ended
	}
	if damage, ok := errors.AsType[*journal.CorruptError](err); ok {
		ended.Why = fmt.Sprintf("the journal was damaged while it was being written: %v. What the loop recorded behind that is lost", damage)
		ended.Hint = fmt.Sprintf("'ralph journal verify %s' shows what can still be read; 'ralph start %s --fresh' puts it aside and begins again", r.Name, r.Name)
		return &ended
	}
	return nil
}
