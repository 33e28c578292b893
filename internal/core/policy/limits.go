package policy

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Limits is about what the agent needs and cannot reach: its model is out of order or overloaded,
// the network is down, the account's share is used up, the login is not valid. Only an explicit
// report in the agent's protocol counts, never words in its text or in a tool's output, and only if
// it ended the turn: if the agent went on, the trouble had passed. Such an iteration is refunded.
// The loop waits until the moment that was stated, else two seconds, twice as long each time, up to
// five minutes, a little more or less for each loop so that they do not all return at once. The
// loop ends after waiting without a stated end for limits.maxOutage, and at once if the login or
// the account needs a person. Time in which the machine slept does not count, and after a pause the
// count begins again.
type Limits struct {
	Kind  event.FaultKind `json:"kind,omitempty"` // of the limit that blocks the open turn
	Until string          `json:"until,omitempty"`
	Text  string          `json:"text,omitempty"`
	// Cut says that ralph ended the turn: that the agent then ends it well shows nothing.
	Cut bool `json:"cut,omitempty"`

	Attempt  int             `json:"attempt,omitempty"` // waits in a row
	Waiting  event.FaultKind `json:"waiting,omitempty"` // the kind that is waited for
	NotUntil time.Time       `json:"notUntil,omitzero"`
	Since    time.Time       `json:"since,omitzero"`   // the start of the waiting without a stated end
	Person   event.FaultKind `json:"person,omitempty"` // auth or quota: only a person can help
	Error    string          `json:"error,omitempty"`
}

const (
	backoffLeast = 2 * time.Second
	backoffMost  = 5 * time.Minute
	// statedMost limits how far away a stated moment is believed: the longest window of a plan is a
	// week.
	statedMost = 8 * 24 * time.Hour
)

// Apply folds one event of the loop with the id loop.
func (l *Limits) Apply(at time.Time, p event.Payload, loop string) {
	switch p := p.(type) {
	case event.LoopStarted, event.LoopResumed:
		*l = Limits{}
	case event.ClockJumped:
		if !l.Since.IsZero() {
			l.Since = l.Since.Add(units.Milliseconds(max(0, p.By)))
		}
	case event.LoopUnpaused, event.LoopWaited:
		if resumedByPerson(p) {
			l.Since = time.Time{}
		}
	case event.IterationStarted:
		l.Kind, l.Until, l.Text, l.Cut = "", "", "", false
	case event.Decided:
		l.Cut = l.Cut || p.Do == event.DoAbort || p.Do == event.DoKill
	case event.AgentSaid, event.ToolCalled:
		// It goes on: no limit blocks it any more.
		l.Kind, l.Until, l.Text = "", "", ""
	case event.AgentLimited:
		l.Kind, l.Until, l.Text = p.Kind, p.Until, firstBytes(p.Text, 500)
	case event.AgentFinished:
		l.finished(p)
	case event.IterationEnded:
		l.ended(p, at, loop)
	}
}

func (l *Limits) finished(p event.AgentFinished) {
	switch {
	case p.Outcome == "ok" && !l.Cut, p.Kind == event.KindRefusal, p.Kind == event.KindContext:
		// This ended the turn, not the earlier limit, and waiting does not help.
		l.Kind, l.Until, l.Text = "", "", ""
	case p.Kind != "" && p.Kind != "other" && (l.Kind == "" || l.Kind == p.Kind):
		l.Kind = p.Kind
		l.Text = cmp.Or(l.Text, firstBytes(p.Error, 500))
	}
}

// StopsTurn reports whether a limit ended the turn. A conversation that is too long is no limit:
// the next iteration begins a new one.
func (l *Limits) StopsTurn() bool {
	switch l.Kind {
	case event.KindRate, event.KindOverload, event.KindNetwork, event.KindQuota, event.KindAuth:
		return true
	}
	return false
}

// Outcome is that of an iteration whose turn a limit ended. A missing login is no limit: nothing
// but a person ends it.
func (l *Limits) Outcome() event.Outcome {
	if l.Kind == event.KindAuth {
		return event.OutcomeUnauthorized
	}
	return event.OutcomeLimited
}

// Trouble says what the loop waits for; empty if nothing.
func (l *Limits) Trouble() string {
	if l.Waiting == "" {
		return ""
	}
	return strings.TrimSuffix(event.Wait(l.Waiting).String()+": "+l.Error, ": ")
}

func (l *Limits) ended(p event.IterationEnded, at time.Time, loop string) {
	switch p.Outcome {
	case event.OutcomeLimited, event.OutcomeUnauthorized:
	case event.OutcomeDone, event.OutcomeFailed:
		*l = Limits{}
		return
	default:
		return
	}
	l.Error, l.Waiting = cmp.Or(firstBytes(p.Error, 500), l.Text), l.Kind
	stated, err := time.Parse(time.RFC3339, l.Until)
	known := err == nil && stated.After(at) && stated.Sub(at) < statedMost
	l.Attempt++
	switch {
	case l.Kind == event.KindAuth, l.Kind == event.KindQuota && !known:
		l.Person = l.Kind
	case known:
		// One second more than stated: clocks differ.
		l.NotUntil, l.Since = stated.Add(time.Second+l.jitter(loop, 4*time.Second)), time.Time{}
	default:
		if l.Since.IsZero() {
			l.Since = at
		}
		l.NotUntil = at.Add(l.backoff(loop))
	}
	// The journal's clock counts milliseconds. With a finer moment, the timer would fire again and
	// again before the events reach it.
	l.NotUntil = l.NotUntil.Truncate(time.Millisecond)
}

// backoff returns how long to wait without a stated end.
func (l *Limits) backoff(loop string) time.Duration {
	d := doubled(backoffLeast, l.Attempt-1, backoffMost)
	return d*9/10 + l.jitter(loop, d/5)
}

// jitter returns a duration below most, always the same for one loop and attempt.
func (l *Limits) jitter(loop string, most time.Duration) time.Duration {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%d", loop, l.Attempt)
	return time.Duration(h.Sum64() % uint64(most))
}

// Over says why waiting is pointless, and what a person can do; an empty reason if it is not.
func (l *Limits) Over(r event.Rules) (reason event.Reason, why, hint string) {
	switch {
	case l.Person == event.KindAuth:
		return event.ReasonAuth, "the agent is not logged in: " + l.Error, "log in with the agent's own command, then resume the loop"
	case l.Person == event.KindQuota:
		return event.ReasonQuota, "the agent's account has nothing left: " + l.Error, "raise the account's limit or use another one, then resume the loop"
	case r.Limits.MaxOutage > 0 && !l.Since.IsZero() && l.NotUntil.Sub(l.Since) > r.Limits.MaxOutage.Std():
		return event.ReasonOutage, fmt.Sprintf("what the agent needs stayed out of reach for %s: %s",
			units.Plain(r.Limits.MaxOutage.Std()), l.Error), "limits.maxOutage says how long to wait"
	}
	return "", "", ""
}
