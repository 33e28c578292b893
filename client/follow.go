package client

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// Follow iterates over the events of a loop after seq, as they are written, until the loop has
// ended. If its runner died the last error is ErrNoRunner; if ctx ends, it is the cause of that. A
// seq of 0 begins with the first event that the journal still has.
func Follow(ctx context.Context, loopDir string, seq event.Seq) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		var heard atomic.Bool
		alive := Alive(ctx, loopDir, &heard)
		ended := false
		give := func(e event.Event, err error) bool {
			heard.Store(true)
			if err == nil {
				seq, ended = e.Seq, e.Type == event.TypeLoopEnded || ended && e.Type == event.TypeSegmentSealed
			}
			return yield(e, err)
		}
		from := seq
		if from > 0 {
			from++
		}
		for e, err := range journal.Follow(alive, loopDir, journal.FollowOptions{FromSeq: from, UntilEnded: true}) {
			if !give(e, err) || err != nil {
				return
			}
		}
		why := context.Cause(alive)
		if errors.Is(why, ErrNoRunner) { // it may have written more before it exited
			for e, err := range Rest(loopDir, seq) {
				if !give(e, err) || err != nil {
					return
				}
			}
		}
		if why != nil && !ended {
			yield(event.Event{}, why)
		}
	}
}

// Rest iterates over the events after seq that are in the journal now.
func Rest(dir string, seq event.Seq) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for e, err := range journal.Read(dir, journal.ReadOptions{FromSeq: seq + 1}) {
			if none, ok := errors.AsType[*journal.RangeError](err); ok && none.Last == seq {
				return
			}
			if !yield(e, err) {
				return
			}
		}
	}
}
