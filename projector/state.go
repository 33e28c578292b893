package projector

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// State is everything that decisions depend on: the folds of the policies. It is
// plain data, and bounded in size. It belongs to one goroutine; what another
// needs of it goes there as JSON.
type State struct {
	Seq uint64    `json:"seq"` // of the last event folded
	At  time.Time `json:"at"`  // of the last event folded

	Life       policy.Life       `json:"life"`
	Mail       policy.Mailbox    `json:"mail"`
	Budget     policy.Budget     `json:"budget"`
	Completion policy.Completion `json:"completion"`
	Idle       policy.Idle       `json:"idle"`
	Restart    policy.Restart    `json:"restart"`
	Gate       policy.Gate       `json:"gate"`
	Seal       policy.Seal       `json:"seal,omitzero"`
	Given      policy.Given      `json:"given,omitzero"`
	Limits     policy.Limits     `json:"limits"`
	Failover   policy.Failover   `json:"failover,omitzero"`
	Breaker    policy.Breaker    `json:"breaker"`
	Person     policy.Person     `json:"person"`
	Reflection policy.Reflection `json:"reflection,omitzero"`
	Last       *Telemetry        `json:"last,omitempty"`   // of the last iteration that ended
	Commit     *Commit           `json:"commit,omitempty"` // of the iteration that began last
}

// Fold takes one event into the state. An error means that an event of a type this
// version knows cannot be read; the state is then as it was but for what the
// policies before the failing one took, and must not be used.
func (s *State) Fold(e event.Event) error {
	if e.Type == event.TypeSegmentOpened && s.Seq == 0 {
		if err := s.restore(e); err != nil {
			return err
		}
	}
	s.Seq, s.At = e.Seq, e.At
	if e.Type == event.TypeIterationEnded {
		if err := s.summarise(e); err != nil {
			return s.wrap(e, err)
		}
	}
	rules := s.Budget.Rules
	s.Idle.Apply(e)
	err := s.Life.Apply(e, rules)
	if err == nil {
		err = s.commit(e)
	}
	if err == nil {
		err = s.Mail.Apply(e)
	}
	if err == nil {
		err = s.Budget.Apply(e)
	}
	if err == nil {
		err = s.Breaker.Apply(e, &s.Completion) // before the words of the iteration are forgotten
	}
	if err == nil {
		err = s.Completion.Apply(e, rules)
	}
	if err == nil {
		err = s.Restart.Apply(e, rules, s.Life.Process.ExitEnds)
	}
	if err == nil {
		err = s.Gate.Apply(e)
	}
	if err == nil {
		err = s.Seal.Apply(e)
	}
	if err == nil {
		err = s.Given.Apply(e, s.Life.Ended != nil)
	}
	if err == nil {
		err = s.Limits.Apply(e)
	}
	if err == nil {
		err = s.Failover.Apply(e, rules, &s.Limits, &s.Restart)
	}
	if err == nil {
		err = s.Person.Apply(e, rules)
	}
	if err == nil {
		err = s.Reflection.Apply(e)
	}
	if err != nil {
		return s.wrap(e, err)
	}
	return nil
}

func (s *State) wrap(e event.Event, err error) error {
	return fmt.Errorf("fold event %d: %w", e.Seq, err)
}

// restore begins a fold at a segment's checkpoint.
func (s *State) restore(e event.Event) error {
	p, err := event.As[event.SegmentOpened](e)
	if err != nil {
		return s.wrap(e, err)
	}
	if len(p.Checkpoint) == 0 {
		return nil
	}
	if err := json.Unmarshal(p.Checkpoint, s); err != nil {
		return fmt.Errorf("read the checkpoint of segment %d: %w", p.Ordinal, err)
	}
	// All that can be compared without reading what came before; the rest is journal.Verify's. A seal may stand between.
	if s.Seq >= e.Seq || s.Seq+2 < e.Seq {
		return fmt.Errorf("read the checkpoint of segment %d: it stands at event %d, and the segment begins with event %d", p.Ordinal, s.Seq, e.Seq)
	}
	return nil
}

// Begun reports whether the loop has begun. A journal whose runner was killed before it recorded the task
// opens a segment and holds nothing else: that loop never began.
func (s *State) Begun() bool { return !s.Life.Started.IsZero() }

// Checkpoint returns the state as segment.opened holds it.
func (s *State) Checkpoint() json.RawMessage {
	data, err := json.Marshal(s)
	if err != nil {
		// A State is plain data that came from JSON; this is a mistake in its types.
		panic(fmt.Sprintf("projector: checkpoint: %v", err))
	}
	return data
}

// Status says in one word where the loop stands: one of the Status constants of
// package event, or empty for a journal without a loop.
func (s *State) Status() string {
	l := &s.Life
	switch {
	case l.Ended != nil:
		return l.Ended.Status
	case l.Started.IsZero():
		return ""
	case s.Mail.Stopping != "":
		return event.StatusStopping
	case l.Paused && l.Person:
		return event.StatusWaiting
	case l.Paused:
		return event.StatusPaused
	case l.Phase == policy.Between && s.Delay().At.After(s.At):
		return event.StatusWaiting
	case l.Iteration == 0, l.Iteration == 1 && (l.Phase == policy.Opened || l.Phase == policy.Starting):
		return event.StatusStarting
	}
	return event.StatusRunning
}

// Leaving reports whether the loop has ended or was told to end at once: if it has a runner, that will be gone when
// its agent is.
func (s *State) Leaving() bool {
	return s.Life.Ended != nil || s.Mail.Stopping == policy.StopNow || s.Mail.Stopping == policy.Kill
}

// SessionGoesOn reports whether the next iteration is another prompt in the session of the last
// one: context is same, and the process that rests is that of the agent that works.
func (s *State) SessionGoesOn() bool {
	p := &s.Life.Process
	return s.Budget.Rules.Context == "same" && p.Resting && p.Agent == s.Failover.Agent
}

// Waiting says for what and until when a waiting loop waits.
func (s *State) Waiting() string {
	if s.Status() != event.StatusWaiting {
		return ""
	}
	if s.Life.Person {
		return "a person: " + s.Person.Waits
	}
	delay := s.Delay()
	until := " until " + delay.At.Format(time.RFC3339)
	switch delay.Name {
	case policy.TimerLimit:
		return policy.LimitName(s.Limits.Waiting) + until
	case policy.TimerBreaker:
		return "no progress" + until
	}
	return "restart delay" + until
}

// Pending says which pause or stop people asked for that is still to come, as in "pausing after iteration 9"; empty
// where there is none.
func (s *State) Pending() string {
	l := &s.Life
	switch {
	case l.Ended != nil:
		return ""
	case l.Phase == policy.Between:
		if l.Paused && s.Mail.Stopping == "" {
			return "" // it has paused
		}
		return s.Mail.Pending(0)
	}
	return s.Mail.Pending(l.Iteration)
}

// Delay returns the moment before which no iteration begins, with the name of what
// delays it: the last of them where there are several.
func (s *State) Delay() policy.Deadline {
	delay := policy.Deadline{Name: policy.TimerRestart, At: s.Restart.NotUntil}
	if s.Limits.NotUntil.After(delay.At) {
		delay = policy.Deadline{Name: policy.TimerLimit, At: s.Limits.NotUntil}
	}
	if s.Breaker.NotUntil.After(delay.At) {
		delay = policy.Deadline{Name: policy.TimerBreaker, At: s.Breaker.NotUntil}
	}
	return delay
}

// Deadline returns the earliest moment at which something has to be decided though
// nothing happens; false where there is none.
func (s *State) Deadline() (policy.Deadline, bool) {
	if s.Life.Ended != nil {
		return policy.Deadline{}, false
	}
	next, found := s.Idle.Next(s.Life.Phase, s.Budget.Rules)
	if s.Life.Process.Killing {
		next, found = policy.Deadline{}, false // no deadline can do more
	}
	if delay := s.Delay(); s.Life.Phase == policy.Between && !s.Life.Paused && delay.At.After(s.At) {
		next, found = delay, true
	}
	if at := s.TimeUp(); !at.IsZero() && s.Timed() && (!found || at.Before(next.At)) {
		next, found = policy.Deadline{Name: policy.TimerDuration, At: at}, true
	}
	return next, found
}

// lookGrace is how much longer than limits.duration a look at what the agent left may take: it is a matter of moments, and what
// was claimed would be lost with it. One that hangs is ended.
const lookGrace = 10 * time.Second

// TimeUp is when limits.duration ends what goes on now; zero where it is not set.
func (s *State) TimeUp() time.Time {
	at, limited := s.Budget.Until()
	switch {
	case !limited:
		return time.Time{}
	case s.Looking():
		return at.Add(lookGrace)
	}
	return at
}

// Looking reports whether what the agent left is only looked at.
func (s *State) Looking() bool {
	return s.Budget.Rules.Guardrails == 0 && (s.Life.Phase == policy.Checking || s.Life.Phase == policy.Verifying)
}

// Timed reports whether the end of the loop's time cuts short what goes on now: a wait, a look, the agent's turn, what the agent left
// running, guardrails. A commit comes to its end, and what was told to end already is not told again.
func (s *State) Timed() bool {
	if s.Idle.Lingering {
		return !s.Life.Process.Killing
	}
	switch s.Life.Phase {
	case policy.Between, policy.Starting, policy.Turning:
		return !s.Life.Process.Ending
	case policy.Beginning, policy.Checking, policy.Verifying:
		return !s.Life.Cancelled
	}
	return false
}
