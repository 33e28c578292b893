package policy

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Limits is about what the agent needs and cannot reach: its model is out of order or
// overloaded, the network is down, the account's share is used up, the login is not
// valid. Only what the agent's protocol says in so many words counts, never words in
// its text or in the output of a tool, and only where the turn ended by it: an agent that
// went on had been helped. Such an iteration is given back. The loop waits until the moment that
// was stated, else two seconds, twice as long each time, up to five minutes, a
// little more or less for each loop so that not all come back at once. Waiting without a stated end, in a row,
// for limits.outage is the end, and so is a login or an account that waiting does not mend.
// Time in which the machine slept is no waiting, and after a pause it is counted anew.
type Limits struct {
	Loop  string `json:"loop,omitempty"` // the loop's id
	Kind  string `json:"kind,omitempty"` // of the limit that stands in the way of the open turn
	Until string `json:"until,omitempty"`
	Text  string `json:"text,omitempty"`

	Attempt  int       `json:"attempt,omitempty"` // waits in a row
	Waiting  string    `json:"waiting,omitempty"` // the kind that is waited for
	NotUntil time.Time `json:"notUntil,omitzero"`
	Since    time.Time `json:"since,omitzero"`   // when the waiting without a stated end began
	Person   string    `json:"person,omitempty"` // auth or quota: only a person can help
	Error    string    `json:"error,omitempty"`
}

// Kinds of faults that are decided by.
const (
	KindRate     = event.KindRate
	KindOverload = event.KindOverload
	KindNetwork  = event.KindNetwork
	KindQuota    = event.KindQuota
	KindAuth     = event.KindAuth
	KindContext  = event.KindContext
	KindRefusal  = event.KindRefusal
)

const (
	backoffLeast = 2 * time.Second
	backoffMost  = 5 * time.Minute
	// statedMost is how far away a stated moment may be to be believed: the longest
	// window of a plan is a week.
	statedMost = 8 * 24 * time.Hour
)

// Apply folds one event.
func (l *Limits) Apply(e event.Event) error {
	switch e.Type {
	case event.TypeLoopStarted:
		p, err := event.As[event.LoopStarted](e)
		if err != nil {
			return err
		}
		*l = Limits{Loop: p.ID}
	case event.TypeLoopResumed:
		*l = Limits{Loop: l.Loop}
	case event.TypeClockJumped:
		p, err := event.As[event.ClockJumped](e)
		if err != nil {
			return err
		}
		if !l.Since.IsZero() {
			l.Since = l.Since.Add(milliseconds(max(0, p.By)))
		}
	case event.TypeLoopUnpaused:
		l.Since = time.Time{}
	case event.TypeIterationStarted:
		l.Kind, l.Until, l.Text = "", "", ""
	case event.TypeAgentSaid, event.TypeToolCalled:
		// It goes on: whatever stood in its way does no more.
		l.Kind, l.Until, l.Text = "", "", ""
	case event.TypeAgentLimited:
		p, err := event.As[event.AgentLimited](e)
		if err != nil {
			return err
		}
		l.Kind, l.Until, l.Text = p.Kind, p.Until, firstBytes(p.Text, 500)
	case event.TypeAgentFinished:
		p, err := event.As[event.AgentFinished](e)
		if err != nil {
			return err
		}
		l.finished(p)
	case event.TypeIterationEnded:
		p, err := event.As[event.IterationEnded](e)
		if err != nil {
			return err
		}
		l.ended(p, e.At)
	}
	return nil
}

func (l *Limits) finished(p event.AgentFinished) {
	switch {
	case p.Outcome == "ok", p.Kind == KindRefusal, p.Kind == KindContext:
		// Whatever stood in its way before, this is what ended it, and waiting does not mend it.
		l.Kind, l.Until, l.Text = "", "", ""
	case p.Kind != "" && p.Kind != "other" && (l.Kind == "" || l.Kind == p.Kind):
		l.Kind = p.Kind
		l.Text = orElse(l.Text, firstBytes(p.Error, 500))
	}
}

// Stops reports whether a limit is why the turn did not come to its end. A conversation that
// is too long is none: the next iteration begins a new one.
func (l *Limits) Stops() bool {
	switch l.Kind {
	case KindRate, KindOverload, KindNetwork, KindQuota, KindAuth:
		return true
	}
	return false
}

// LimitName says in words what a kind of limit is.
func LimitName(kind string) string {
	switch kind {
	case KindRate:
		return "rate limit"
	case KindOverload:
		return "overload"
	case KindNetwork:
		return "network"
	case KindQuota:
		return "quota"
	case KindAuth:
		return "login"
	}
	return "outage"
}

// Trouble says what is waited for; empty where nothing is.
func (l *Limits) Trouble() string {
	if l.Waiting == "" {
		return ""
	}
	return strings.TrimSuffix(LimitName(l.Waiting)+": "+l.Error, ": ")
}

func (l *Limits) ended(p event.IterationEnded, at time.Time) {
	if p.Outcome != event.OutcomeLimited {
		if p.Outcome == event.OutcomeDone || p.Outcome == event.OutcomeFailed {
			*l = Limits{Loop: l.Loop}
		}
		return
	}
	l.Error, l.Waiting = orElse(firstBytes(p.Error, 500), l.Text), l.Kind
	stated, err := time.Parse(time.RFC3339, l.Until)
	known := err == nil && stated.After(at) && stated.Sub(at) < statedMost
	l.Attempt++
	switch {
	case l.Kind == KindAuth, l.Kind == KindQuota && !known:
		l.Person = l.Kind
	case known:
		// A second more than was stated: clocks differ.
		l.NotUntil, l.Since = stated.Add(time.Second+l.jitter(4*time.Second)), time.Time{}
	default:
		if l.Since.IsZero() {
			l.Since = at
		}
		l.NotUntil = at.Add(l.backoff())
	}
	// The journal's clock is no finer than that: a moment between two of its ticks would be
	// reached by the timer and not by the events, again and again.
	l.NotUntil = l.NotUntil.Truncate(time.Millisecond)
}

// backoff is how long to wait where nobody said until when.
func (l *Limits) backoff() time.Duration {
	d := backoffLeast
	for range min(l.Attempt-1, 20) {
		d = min(d*2, backoffMost)
	}
	return d*9/10 + l.jitter(d/5)
}

// jitter returns a duration below most that is always the same for a loop and attempt.
func (l *Limits) jitter(most time.Duration) time.Duration {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%d", l.Loop, l.Attempt)
	return time.Duration(h.Sum64() % uint64(most))
}

// Over says why waiting makes no sense any more, and what a person can do; an empty reason where it does.
func (l *Limits) Over(r event.Rules) (reason event.Reason, why, hint string) {
	switch {
	case l.Person == KindAuth:
		return event.ReasonAuth, "the agent is not logged in: " + l.Error, "log in with the agent's own command, then resume the loop"
	case l.Person == KindQuota:
		return event.ReasonQuota, "the agent's account has nothing left: " + l.Error, "raise the account's limit or use another one, then resume the loop"
	case r.OutageLimit > 0 && !l.Since.IsZero() && l.NotUntil.Sub(l.Since) > milliseconds(r.OutageLimit):
		return event.ReasonOutage, fmt.Sprintf("what the agent needs stayed out of reach for %s: %s", units.Plain(milliseconds(r.OutageLimit)), l.Error), "limits.outage says how long to wait"
	}
	return "", "", ""
}
