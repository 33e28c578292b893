package runner

import (
	"errors"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/ground/fence"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// A pool gives a loop to one host at a time. The runner only reads which epoch its host has, from a
// file, and takes a fence as it takes any command.

// moved returns the record of a take-over by this host, before the first resume after it.
func (r *runner) moved(state *loopstate.State) ([]event.Draft, error) {
	claim, err := fence.ReadClaim(r.Dir)
	if err != nil || claim == nil || claim.Epoch <= state.Ownership.Epoch() {
		return nil, err
	}
	return []event.Draft{event.Encode(event.LoopMoved{Host: claim.Host, From: claim.From, Epoch: claim.Epoch}, "loop")}, nil
}

// refuseFenced returns a *refusedError if another host has the loop. A runner may have died between
// that record and the file that says so to a resume.
func (r *runner) refuseFenced(state *loopstate.State) error {
	to := state.Ownership.Fenced
	if to == nil {
		return nil
	}
	if err := writeFence(r.Dir, *to, r.clock()); err != nil {
		return err
	}
	return &refusedError{event.LoopEnded{
		Status: event.ReasonFenced.Status(), Reason: event.ReasonFenced,
		Why:  fmt.Sprintf("the loop continues on %s (epoch %d)", to.Host, to.Epoch),
		Hint: fmt.Sprintf("'ralph pool take %s' brings it back", r.Name),
	}}
}

func writeFence(dir string, to event.LoopFenced, now time.Time) error {
	return fence.Write(dir, fence.Fence{To: to.Host, Epoch: to.Epoch, At: now.UTC().Truncate(time.Second), Complete: true})
}

// Fence says in the folder of a loop without a runner that another host of the pool has it: first
// to a resume, then in the journal. The caller holds the loop's lock, and has ended what its agent
// left. Doing it again changes nothing.
func Fence(dir string, to event.LoopFenced, now time.Time) error {
	if err := writeFence(dir, to, now); err != nil {
		return err
	}
	var opt journal.Options
	if settings, _, err := Frozen(dir); err == nil { // else all iterations are kept, which loses nothing
		opt.KeepIterations = settings.Journal.KeepIterations
	}
	rec, err := journal.Recover(dir, opt)
	if err != nil {
		return err
	}
	state, err := loopstate.Rebuild(dir)
	if err != nil {
		return err
	}
	known := state.Ownership.Fenced != nil && state.Ownership.Fenced.Epoch >= to.Epoch
	if !state.Begun() || known && state.Lifecycle.Ended != nil {
		return nil
	}
	var drafts []event.Draft
	if !known {
		drafts = append(drafts, event.Encode(to, "pool")) // no rule of the loop decided it
	}
	iteration := max(state.Lifecycle.Iteration, 1)
	opt.Notify = true
	writer, opened, err := journal.Create(dir, rec, iteration, state.Checkpoint(), opt)
	if err != nil {
		return err
	}
	projections := loopstate.NewWriter(dir, nil)
	written := func(events []event.Event, s *loopstate.State) {
		if events[len(events)-1].Type == event.TypeIterationEnded {
			projections.Iteration(*s.Last)
		}
	}
	engine := &loop.Engine{Journal: writer, Executor: noExecutor{}, Folded: written, Segment: iteration}
	engine.Restore(state)
	err = engine.Fold(opened)
	if err == nil {
		err = engine.Step(drafts)
	}
	if err = errors.Join(err, finish(writer, engine)); err == nil {
		projections.State(engine.State())
	}
	return errors.Join(err, projections.Close())
}
