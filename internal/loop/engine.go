package loop

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ralph-loop/ralph/journal/event"
)

// Journal is what an Engine needs of journal.Writer.
type Journal interface {
	Append([]event.Draft) ([]event.Event, error)
	Rotate(iteration int, checkpoint json.RawMessage) ([]event.Event, error)
	Full() bool
	Sync() error
}

// Hands do effects. Do starts an effect that was recorded as event cause, and
// returns at once; the outcome comes back as events with that cause. The state
// may be read during the call, and not after.
type Hands interface {
	Do(d event.Decided, cause uint64, s *State)
}

// Engine records what happens, and what follows from it. It has no goroutine and no clock,
// and is used by one goroutine.
type Engine struct {
	Journal Journal
	Hands   Hands
	// Folded is called with the events of each append after they are folded; nil
	// for none. The events are valid during the call.
	Folded func([]event.Event, *State)
	// Asked is called with the name of each rule that answered; nil for nobody.
	Asked func(rule string)
	// Segment is the iteration that the journal's open segment is for. An iteration
	// begins a segment of its own, unless the open one was begun for it.
	Segment int

	state  State
	drafts [1]event.Draft
}

// stepsMost bounds how often the table may answer without anything happening
// from outside. The longest honest chain (a claim, an ended iteration, three hundred refused
// messages, an ended loop) is far below it.
const stepsMost = 2000

// ErrRestless means that the mind does not come to rest: a mistake in its table.
var ErrRestless = errors.New("loop: decisions do not come to an end")

// State returns the state, which later calls change.
func (e *Engine) State() *State { return &e.state }

// Restore sets the state that the journal's earlier segments add up to. Call it
// before anything else.
func (e *Engine) Restore(s State) { e.state = s }

// Fold takes events into the state that the journal wrote by itself.
func (e *Engine) Fold(events []event.Event) error {
	for _, ev := range events {
		if err := e.state.Fold(ev); err != nil {
			return err
		}
	}
	if e.Folded != nil {
		e.Folded(events, &e.state)
	}
	return nil
}

// Step records what happened and does what follows. An error means that the
// journal could not be written or holds what cannot be folded: nothing may be
// done any more.
func (e *Engine) Step(drafts []event.Draft) error {
	if err := e.append(drafts); err != nil {
		return err
	}
	for range stepsMost {
		rule, decisions := Why(&e.state)
		if e.Asked != nil && rule != "" {
			e.Asked(rule)
		}
		if len(decisions) == 0 {
			return nil
		}
		for _, d := range decisions {
			if err := e.decide(d); err != nil {
				return err
			}
		}
	}
	return ErrRestless
}

func (e *Engine) append(drafts []event.Draft) error {
	if len(drafts) == 0 {
		return nil
	}
	// Before the drafts, not behind them: the state then stands at the last of them,
	// which is the cause of what is done because of it.
	if e.Journal.Full() {
		if err := e.rotate(max(e.Segment, e.state.Life.Iteration)); err != nil {
			return err
		}
	}
	for i := range drafts {
		if drafts[i].Iter == 0 {
			drafts[i].Iter = e.state.Life.Iteration
		}
	}
	events, err := e.Journal.Append(drafts)
	if err != nil {
		return fmt.Errorf("append to the journal: %w", err)
	}
	return e.Fold(events)
}

func (e *Engine) rotate(iteration int) error {
	events, err := e.Journal.Rotate(iteration, e.state.Checkpoint())
	if err != nil {
		return fmt.Errorf("begin the next segment: %w", err)
	}
	e.Segment = iteration
	return e.Fold(events)
}

func (e *Engine) decide(d Decision) error {
	if d.Record != nil {
		if err := e.record(d.Record); err != nil {
			return err
		}
		switch d.Record.EventType() {
		case event.TypeIterationEnded, event.TypeLoopEnded:
			return e.Sync()
		}
		return nil
	}
	if err := e.record(*d.Do); err != nil {
		return err
	}
	cause := e.state.Seq
	if d.Do.Do == event.DoBegin && d.Do.Iteration != e.Segment {
		if err := e.rotate(d.Do.Iteration); err != nil {
			return err
		}
	}
	if irrevocable(d.Do.Do) {
		if err := e.Sync(); err != nil {
			return err
		}
	}
	e.Hands.Do(*d.Do, cause, &e.state)
	return nil
}

// irrevocable says which effects cannot be undone once they are done, so that
// the decision has to be on disk before. Ending a process is not among them: doing
// it twice is as good as once.
func irrevocable(do string) bool {
	return do == event.DoStart || do == event.DoSteer || do == event.DoCommit
}

// Sync makes everything recorded so far durable.
func (e *Engine) Sync() error {
	if err := e.Journal.Sync(); err != nil {
		return fmt.Errorf("sync the journal: %w", err)
	}
	return nil
}

func (e *Engine) record(p event.Payload) error {
	e.drafts[0] = event.Encode(p, "loop")
	return e.append(e.drafts[:])
}
