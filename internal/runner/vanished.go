package runner

import (
	"errors"
	"fmt"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/executor"
	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// The agent or another process may remove, move, replace or truncate the files of a loop while it
// runs. The runner does not create such a file again, because the loop would then look intact.

// reportFault passes a fault to the driver, unless the driver has returned.
func (r *runner) reportFault(where string, err error) {
	select {
	case r.inputs <- faultInput(where, err):
	case <-r.driverDone:
	}
}

// flush projects the state, and checks that the loop's lock still excludes a second runner. The
// journal checks it too, so there is time for an orderly end.
func (r *runner) flush(s *loopstate.State) {
	r.project.State(s)
	if err := r.lock.Check(); errors.Is(err, registration.ErrLockGone) {
		r.lockLost.Do(func() { go r.reportFault("lock", &executor.VanishedError{Part: "the loop's lock", Err: err}) })
	}
}

func (r *runner) warn(err error) {
	if r.Warn != nil {
		r.Warn(err)
	}
}

// unrecordedEnd returns the end of a loop whose journal was removed or truncated, so that no
// journal contains it; nil after any other error.
func (r *runner) unrecordedEnd(err error) *event.LoopEnded {
	ended := event.LoopEnded{Status: event.ReasonDisk.Status(), Reason: event.ReasonDisk, Result: event.ReasonDisk.Result()}
	if gone, ok := errors.AsType[*journal.VanishedError](err); ok {
		ended.Why = fmt.Sprintf("the journal vanished: %v. What the loop recorded is lost with it", gone)
		ended.Hint = fmt.Sprintf("put the folder back if you have it and 'ralph start %s --resume', else begin the loop again with 'ralph start %s'; "+
			"look at the work tree first: what removed the journal may have removed more", r.Name, r.Name)
		return &ended
	}
	if damage, ok := errors.AsType[*journal.CorruptError](err); ok {
		ended.Why = fmt.Sprintf("the journal was damaged while it was being written: %v. What the loop recorded after that is lost", damage)
		ended.Hint = fmt.Sprintf("'ralph journal verify %s' shows what can still be read; 'ralph start %s --fresh' puts it aside and begins again", r.Name, r.Name)
		return &ended
	}
	return nil
}
