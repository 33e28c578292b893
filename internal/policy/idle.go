package policy

import (
	"slices"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// Idle watches the clock of a running agent. An agent that says nothing for
// limits.idle, an iteration that lasts longer than limits.iteration, and a process
// that lives on for limits.afterResult after its final result are cut short. Any
// line of the agent is a sign of life, and where it says that it tries again after a while, so is that while. While one of its tools is at work, or work that it has put into the
// background, the agent may be silent for longer, for limits.tool. What an agent that is done left running may go on until the
// iteration's limit, and is then ended. Time in which the machine slept does not count.
type Idle struct {
	Began    time.Time `json:"began,omitzero"`    // of the iteration
	Heard    time.Time `json:"heard,omitzero"`    // the last sign of life
	Finished time.Time `json:"finished,omitzero"` // the end of the turn
	// Retries is when the agent tries again what failed, by its own word. It may be silent until then.
	Retries time.Time `json:"retries,omitzero"`
	// Lingering says that what the agent left running is waited for: its silence is nobody's.
	Lingering bool `json:"lingering,omitempty"`
	// Background says that the agent waits for work that it has put into the background.
	Background bool `json:"background,omitempty"`
	// Busy are the tools at work; the first ones, where there are very many.
	Busy []string `json:"busy,omitempty"`
}

const (
	busyMost = 64
	// retryMost is how long a wait between two tries may be to be believed, in milliseconds; a longer one ends as any other silence.
	retryMost = 24 * 60 * 60 * 1000
)

// Deadline is a moment at which something has to be decided.
type Deadline struct {
	Name string
	At   time.Time
}

// Names of deadlines, as timer.fired has them.
const (
	TimerIdle        = "idle"
	TimerTool        = "tool"
	TimerBackground  = "background"
	TimerIteration   = "iteration"
	TimerAfterResult = "afterResult"
	TimerRestart     = "restart"
	TimerLimit       = "limit"
	TimerBreaker     = "breaker"
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
		i.Heard, i.Finished, i.Busy, i.Background = e.At, e.At, nil, false
	case event.TypeClockJumped:
		i.jumped(e)
	}
	switch e.Type {
	case event.TypeAgentRetried:
		if p, err := event.As[event.AgentRetried](e); err == nil {
			i.Retries = e.At.Add(milliseconds(min(max(0, p.Delay), retryMost)))
		}
	case event.TypeAgentNoticed:
		switch string(e.Field("what")) {
		case `"` + event.NoticeLingering + `"`:
			i.Lingering = true
		case `"` + event.NoticeBackground + `"`:
			text := string(e.Field("text"))
			i.Background = text != "" && text != `""`
		}
	case event.TypeAgentStarted, event.TypeAgentRested, event.TypeAgentExited:
		i.Lingering = false
	case event.TypeToolCalled:
		if id := string(e.Field("id")); len(i.Busy) < busyMost && len(id) <= 200 {
			i.Busy = append(i.Busy, id)
		}
	case event.TypeToolReturned:
		id := string(e.Field("id"))
		i.Busy = slices.DeleteFunc(i.Busy, func(busy string) bool { return busy == id })
	}
}

// jumped moves what deadlines are counted from by the time that was slept.
func (i *Idle) jumped(e event.Event) {
	p, err := event.As[event.ClockJumped](e)
	if err != nil {
		return
	}
	for _, from := range []*time.Time{&i.Began, &i.Heard, &i.Finished, &i.Retries} {
		if !from.IsZero() {
			*from = from.Add(milliseconds(max(0, p.By)))
		}
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
	if i.Lingering {
		consider(TimerIteration, i.Began, r.IterationLimit)
		return next, next.Name != ""
	}
	switch phase {
	case Turning:
		heard := i.Heard
		if i.Retries.After(heard) {
			heard = i.Retries
		}
		switch {
		case len(i.Busy) > 0:
			consider(TimerTool, heard, r.ToolIdleAfter)
		case i.Background:
			consider(TimerBackground, heard, r.ToolIdleAfter)
		default:
			consider(TimerIdle, heard, r.IdleAfter)
		}
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
