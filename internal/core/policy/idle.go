package policy

import (
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Idle watches the clock of a running agent. An agent that says nothing for limits.idle, an
// iteration that lasts longer than limits.iteration, and a process that lives on for
// limits.exitGrace after its final result are cut short. Any line of the agent is a sign of life,
// and if it announces a retry, so is the time until then. While a tool or work in the background
// runs, the agent may be silent for longer, for limits.tool. What a finished agent left running may
// go on until the iteration's limit, and is then ended. Time in which the machine slept does not
// count.
type Idle struct {
	Began    time.Time `json:"began,omitzero"`    // of the iteration
	Heard    time.Time `json:"heard,omitzero"`    // the last sign of life
	Finished time.Time `json:"finished,omitzero"` // the end of the turn
	// Retries is when the agent tries again, as it announced. It may be silent until then.
	Retries time.Time `json:"retries,omitzero"`
	// Lingering says that the loop waits for what the agent left running, however silent.
	Lingering bool `json:"lingering,omitempty"`
	// Busy are the first of the tools at work.
	Busy []string `json:"busy,omitempty"`
}

const (
	busyMost = 64
	// retryMost limits the wait between two tries that is believed, in milliseconds; a longer one
	// ends like any other silence.
	retryMost = 24 * 60 * 60 * 1000
)

// Deadline is a moment at which something has to be decided.
type Deadline struct {
	Name string
	At   time.Time
}

// Names of deadlines, as timer.fired has them.
const (
	TimerIdle       = "idle"
	TimerTool       = "tool"
	TimerBackground = "background"
	TimerIteration  = "iteration"
	TimerExitGrace  = "exitGrace"
	TimerRestart    = "restart"
	TimerLimit      = "limit"
	TimerBreaker    = "breaker"
	TimerDuration   = "duration"
	TimerHeld       = "held"
)

// TimerOf returns the name of the deadline that ends a wait.
func TimerOf(wait event.Wait) string {
	switch wait {
	case event.WaitRestart:
		return TimerRestart
	case event.WaitBreaker:
		return TimerBreaker
	case event.WaitHeld:
		return TimerHeld
	}
	return TimerLimit
}

// Apply folds one event.
func (i *Idle) Apply(at time.Time, p event.Payload) {
	switch p := p.(type) {
	case event.IterationStarted:
		*i = Idle{Began: at}
	case event.IterationEnded, event.LoopResumed:
		*i = Idle{}
	case event.AgentStarted:
		i.Heard, i.Lingering = at, false
	case event.AgentParked, event.AgentExited:
		i.Lingering = false
	case event.AgentRetried:
		i.Heard, i.Retries = at, at.Add(units.Milliseconds(min(max(0, p.Delay), retryMost)))
	case event.AgentNoticed:
		i.Heard = at
		i.Lingering = i.Lingering || p.What == event.NoticeLingering
	case event.ToolCalled:
		i.Heard = at
		if len(i.Busy) < busyMost && len(p.ID) <= 200 {
			i.Busy = append(i.Busy, p.ID)
		}
	case event.ToolReturned:
		i.Heard = at
		i.Busy = slices.DeleteFunc(i.Busy, func(id string) bool { return id == p.ID })
	case event.AgentSaid, event.AgentThought, event.AgentUsed, event.AgentPlanned, event.AgentAsked,
		event.AgentLimited, event.AgentCompacted, event.AgentUnparsed, event.ToolProgressed:
		i.Heard = at
	case event.AgentFinished:
		i.Heard, i.Finished, i.Busy = at, at, nil
	case event.ClockJumped:
		for _, from := range []*time.Time{&i.Began, &i.Heard, &i.Finished, &i.Retries} {
			if !from.IsZero() {
				*from = from.Add(units.Milliseconds(max(0, p.By)))
			}
		}
	}
}

// Next returns the earliest deadline of the running agent; false if none is running or no limit is
// set.
func (i *Idle) Next(l *Lifecycle) (Deadline, bool) {
	r := l.Rules
	var next Deadline
	consider := func(name string, from time.Time, after event.Duration) {
		if from.IsZero() || after <= 0 {
			return
		}
		at := from.Add(after.Std())
		if next.Name == "" || at.Before(next.At) {
			next = Deadline{name, at}
		}
	}
	if i.Lingering {
		consider(TimerIteration, i.Began, r.Limits.Iteration)
		return next, next.Name != ""
	}
	switch l.Phase {
	case Turning:
		heard := i.Heard
		if i.Retries.After(heard) {
			heard = i.Retries
		}
		switch {
		case len(i.Busy) > 0:
			consider(TimerTool, heard, r.Limits.Tool)
		case l.Background != "":
			consider(TimerBackground, heard, r.Limits.Tool)
		default:
			consider(TimerIdle, heard, r.Limits.Idle)
		}
		consider(TimerIteration, i.Began, r.Limits.Iteration)
	case Starting:
		consider(TimerIteration, i.Began, r.Limits.Iteration)
	case Leaving:
		// A release waits for the process to exit by itself, and its executor has no deadline.
		if !i.Finished.IsZero() {
			consider(TimerExitGrace, i.Finished, r.Limits.ExitGrace)
		}
	}
	return next, next.Name != ""
}
