package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/log"
	"github.com/ralph-loop/ralph/pool/queue"
	"github.com/ralph-loop/ralph/pool/store"
)

// Observe returns how far a loop is that others need, from what the store has of it.
func Observe(ctx context.Context, s store.Store, id, name string) (State, error) {
	state := State{Name: name, Phase: Queued}
	held, err := queue.Hold(ctx, s, id)
	if errors.Is(err, queue.ErrDamaged) { // of this loop: it may be repaired
		return State{name, Working, err.Error()}, nil
	}
	if err != nil || held.Epoch == 0 {
		return state, err
	}
	if held.Withdrawn {
		state.Phase, state.Why = Failed, "it was withdrawn"
		return state, nil
	}
	state.Phase = Working
	v, err := live.ReadView(ctx, s, id)
	if err != nil || v == nil {
		return state, err
	}
	switch ended := v.View.Status.Ended(); {
	case v.GivenUp && !held.Begun:
		state.Phase, state.Why = Failed, cmp.Or(v.View.State, "it was given up")
	case ended && v.View.Status != event.StatusCompleted:
		state.Phase = Failed
		state.Why = fmt.Sprintf("it has ended: %s; it goes on if it is resumed on host %s", cmp.Or(v.View.State, string(v.View.Status)), v.Host)
	case ended: // the view may be of a host that has lost the loop
		status, err := log.Status(ctx, s, id)
		if err != nil {
			return state, err
		}
		if status == event.StatusCompleted {
			state.Phase = Done
		}
	}
	return state, nil
}
