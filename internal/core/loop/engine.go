package loop

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/journal/event"
)

// Journal is what an Engine needs of journal.Writer.
type Journal interface {
	Append([]event.Draft) ([]event.Event, error)
	Rotate(iteration int, checkpoint json.RawMessage) ([]event.Event, error)
	Full() bool
	Sync() error
}

// Executor performs effects. Do starts an effect that was recorded as event cause, and returns at
// once; the outcome comes back as events with that cause. Do may read the state until it returns.
type Executor interface {
	Do(d event.Decided, cause event.Seq, s *State)
}

// Engine records events and the decisions that follow from them. It has no goroutine and no clock,
// and one goroutine uses it.
type Engine struct {
	Journal  Journal
	Executor Executor
	// Folded, if not nil, is called with the events of each append after they are folded. They are
	// valid during the call.
	Folded func([]event.Event, *State)
	// Answered, if not nil, is called with the name of each rule that decided something.
	Answered func(rule string)
	// Segment is the iteration of the journal's open segment. Each iteration begins a segment,
	// unless the open one was begun for it.
	Segment int

	state  State
	drafts [1]event.Draft
}

// maxSteps limits the decisions that follow from one input. The longest legitimate chain (a claim,
// an ended iteration, three hundred refused messages, an ended loop) is far below it.
const maxSteps = 2000

// ErrTooManyDecisions means that a state always leads to another decision: a bug in the rules.
var ErrTooManyDecisions = errors.New("loop: decisions do not come to an end")

// State returns the state, which later calls change.
func (e *Engine) State() *State { return &e.state }

// Restore sets the state that results from the journal's earlier segments. Call it first.
func (e *Engine) Restore(s State) { e.state = s }

// Fold folds events that the journal wrote by itself.
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

// Step records drafts and performs the decisions that follow. After an error, which says that the
// journal could not be written or folded, nothing else may be done.
func (e *Engine) Step(drafts []event.Draft) error {
	if err := e.append(drafts); err != nil {
		return err
	}
	if slices.ContainsFunc(drafts, func(d event.Draft) bool { return d.Type == event.TypeFleetDecided }) {
		err := e.Sync() // the agent of a fleet carries it out once it finds it in the journal
		if err != nil {
			return err
		}
	}
	for range maxSteps {
		rule, decisions := Why(&e.state)
		if e.Answered != nil && rule != "" {
			e.Answered(rule)
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
	return ErrTooManyDecisions
}

func (e *Engine) append(drafts []event.Draft) error {
	if len(drafts) == 0 {
		return nil
	}
	// Rotate before the drafts: the last of them is the cause of the decisions that follow.
	if e.Journal.Full() {
		if err := e.rotate(max(e.Segment, e.state.Lifecycle.Iteration)); err != nil {
			return err
		}
	}
	for i := range drafts {
		if drafts[i].Iter == 0 {
			drafts[i].Iter = e.state.Lifecycle.Iteration
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
	e.drafts[0] = event.Encode(d, byLoop)
	if err := e.append(e.drafts[:]); err != nil {
		return err
	}
	effect, ok := d.(event.Decided)
	if !ok {
		switch d.EventType() {
		case event.TypeIterationEnded, event.TypeLoopEnded:
			return e.Sync()
		}
		return nil
	}
	cause := e.state.Seq
	if effect.Do == event.DoBegin && effect.Iteration != e.Segment {
		if err := e.rotate(effect.Iteration); err != nil {
			return err
		}
	}
	if irrevocable(effect.Do) {
		if err := e.Sync(); err != nil {
			return err
		}
	}
	e.Executor.Do(effect, cause, &e.state)
	return nil
}

// irrevocable reports whether an effect cannot be undone, so that its decision has to be on disk
// first. Ending a process is not among them: it can be repeated.
func irrevocable(do event.Effect) bool {
	return do == event.DoStart || do == event.DoSteer || do == event.DoCommit
}

// Sync makes all recorded events durable.
func (e *Engine) Sync() error {
	if err := e.Journal.Sync(); err != nil {
		return fmt.Errorf("sync the journal: %w", err)
	}
	return nil
}
