package policy

import (
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// Idle watches the clock of a running agent. An agent that says nothing for
// limits.idle, an iteration that lasts longer than limits.iteration, and a process
// that lives on for limits.afterResult after its final result are cut short. Any
// line of the agent is a sign of life.
type Idle struct {
	Began    time.Time `json:"began,omitzero"`    // of the iteration
	Heard    time.Time `json:"heard,omitzero"`    // the last sign of life
	Finished time.Time `json:"finished,omitzero"` // the end of the turn
}

// Deadline is a moment at which something has to be decided.
type Deadline struct {
	Name string
	At   time.Time
}

// Names of deadlines, as timer.fired has them.
const (
	TimerIdle        = "idle"
	TimerIteration   = "iteration"
	TimerAfterResult = "afterResult"
	TimerRestart     = "restart"
	TimerDuration    = "duration"
)

// Apply folds one event.
func (i *Idle) Apply(e event.Event) {
	switch e.Type {
	case event.TypeIterationStarted:
		*i = Idle{Began: e.At}
	case event.TypeIterationEnded, event.TypeLoopResumed:
		*i = Idle{}
	case event.TypeAgentStarted, event.TypeAgentSaid, event.TypeAgentThought, event.TypeAgentUsed,
		event.TypeAgentPlanned, event.TypeAgentAsked, event.TypeAgentLimited, event.TypeAgentRetried,
		event.TypeAgentCompacted, event.TypeAgentNoticed, event.TypeAgentUnread,
		event.TypeToolCalled, event.TypeToolProgressed, event.TypeToolReturned:
		i.Heard = e.At
	case event.TypeAgentFinished:
		i.Heard, i.Finished = e.At, e.At
	}
}

// Next returns the earliest deadline of the running agent; false where none is
// running or no limit is set.
func (i *Idle) Next(phase Phase, r event.Rules) (Deadline, bool) {
	var next Deadline
	consider := func(name string, from time.Time, after int64) {
		if from.IsZero() || after <= 0 {
			return
		}
		at := from.Add(milliseconds(after))
		if next.Name == "" || at.Before(next.At) {
			next = Deadline{name, at}
		}
	}
	switch phase {
	case Turning:
		consider(TimerIdle, i.Heard, r.IdleAfter)
		consider(TimerIteration, i.Began, r.IterationLimit)
	case Starting:
		consider(TimerIteration, i.Began, r.IterationLimit)
	case Leaving:
		// A release waits for the process to go by itself; the hand that does so has
		// no clock of its own to judge by.
		if !i.Finished.IsZero() {
			consider(TimerAfterResult, i.Finished, r.AfterResult)
		}
	}
	return next, next.Name != ""
}
