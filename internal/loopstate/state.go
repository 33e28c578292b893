package loopstate

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// State is everything that decisions depend on: the folds of the policies. It is
// plain data, and bounded in size. It belongs to one goroutine; what another
// needs of it goes there as JSON.
type State struct {
	Seq event.Seq `json:"seq"` // of the last event folded
	At  time.Time `json:"at"`  // of the last event folded

	// Lifecycle is the root: the rules and the phase, which every policy may be given.
	policy.Lifecycle
	Commands     policy.Commands      `json:"commands"`
	Budget       policy.Budget        `json:"budget"`
	Completion   policy.Completion    `json:"completion"`
	Idle         policy.Idle          `json:"idle"`
	Verification policy.Verification  `json:"verification"`
	FileChanges  policy.FileChanges   `json:"fileChanges,omitzero"`
	Settings     policy.GivenSettings `json:"settings,omitzero"`
	Failover     policy.Failover      `json:"failover,omitzero"`
	Breaker      policy.Breaker       `json:"breaker"`
	Escalation   policy.Escalation    `json:"escalation"`
	Reflection   policy.Reflection    `json:"reflection,omitzero"`
	Last         *Telemetry           `json:"last,omitempty"`   // of the last iteration that ended
	Commit       *Commit              `json:"commit,omitempty"` // of the iteration that began last
}

// Fold takes one event into the state. Its payload is decoded here, once. Each policy is given the
// loop as it was before the event, so that their order has no meaning. An error means that the
// payload cannot be read; the state must not be used then.
func (s *State) Fold(e event.Event) error {
	p, err := payload(e)
	if err != nil {
		return fmt.Errorf("fold event %d: %w", e.Seq, err)
	}
	if opened, ok := p.(event.SegmentOpened); ok && s.Seq == 0 && len(opened.Checkpoint) > 0 {
		if err := s.restore(e.Seq, opened); err != nil {
			return fmt.Errorf("read the checkpoint of segment %d: %w", opened.Ordinal, err)
		}
	}
	s.Seq, s.At = e.Seq, e.At
	s.iterations(e, p)
	was, by := s.Lifecycle, ""
	switch p.(type) {
	case event.AgentUsed, event.CommandReceived:
		by = e.By()
	}
	s.Lifecycle.Apply(e.At, p)
	s.Commands.Apply(by, p)
	s.Budget.Apply(e.At, by, p, &was)
	s.Breaker.Apply(e.At, p, &was, &s.Completion.Text)
	s.Completion.Apply(e.Iter, p, &was)
	s.Idle.Apply(e.At, p)
	s.Verification.Apply(p, &was)
	s.FileChanges.Apply(e.Iter, p)
	s.Settings.Apply(p, &was)
	s.Failover.Apply(e.At, p, &was)
	s.Escalation.Apply(p, &was)
	s.Reflection.Apply(p)
	return nil
}

// payload decodes an event. Of the types that come by the thousand it reads what the policies need
// and no long text: rebuilding a journal takes half the time.
func payload(e event.Event) (event.Payload, error) {
	switch e.Type {
	case event.TypeToolReturned:
		return event.ToolReturned{ID: jsonscan.Unquote(e.Field("id")), OK: string(e.Field("ok")) == "true"}, nil
	case event.TypeToolCalled:
		return event.ToolCalled{ID: jsonscan.Unquote(e.Field("id")), Parent: jsonscan.Unquote(e.Field("parent"))}, nil
	case event.TypeAgentThought:
		return event.AgentThought{Parent: jsonscan.Unquote(e.Field("parent"))}, nil
	case event.TypeToolProgressed:
		return event.ToolProgressed{}, nil
	case event.TypeAgentUnparsed:
		return event.AgentUnparsed{}, nil
	}
	return event.Decode(e)
}

// restore begins a fold at a segment's checkpoint.
func (s *State) restore(seq event.Seq, opened event.SegmentOpened) error {
	if err := json.Unmarshal(opened.Checkpoint, s); err != nil {
		return err
	}
	// All that can be compared without reading what came before; journal.Verify does the rest. A
	// seal may stand between.
	if s.Seq >= seq || s.Seq+2 < seq {
		return fmt.Errorf("it stands at event %d, and the segment begins with event %d", s.Seq, seq)
	}
	return nil
}

// Begun reports whether the loop has begun. A journal whose runner was killed before it recorded
// the task opens a segment and holds nothing else: that loop never began.
func (s *State) Begun() bool { return !s.Lifecycle.Started.IsZero() }

// Checkpoint returns the state as segment.opened holds it.
func (s *State) Checkpoint() json.RawMessage {
	data, err := json.Marshal(s)
	if err != nil {
		// A State is plain data that came from JSON; this is a mistake in its types.
		panic(fmt.Sprintf("loopstate: checkpoint: %v", err))
	}
	return data
}

// Status says in one word where the loop stands: one of the Status constants of
// package event, or empty for a journal without a loop.
func (s *State) Status() event.Status {
	l := &s.Lifecycle
	switch {
	case l.Ended != nil:
		return l.Ended.Status
	case l.Started.IsZero():
		return ""
	case s.Commands.Stopping != "":
		return event.StatusStopping
	case l.Wait != nil:
		return event.StatusWaiting
	case l.Paused:
		return event.StatusPaused
	case l.Iteration == 0, l.Iteration == 1 && (l.Phase == policy.Opened || l.Phase == policy.Starting):
		return event.StatusStarting
	}
	return event.StatusRunning
}

// Leaving reports whether the loop has ended or was told to end at once: if it has a runner, that
// will be gone when its agent is.
func (s *State) Leaving() bool {
	return s.Lifecycle.Ended != nil || s.Commands.Stopping.EndsNow()
}

// SessionGoesOn reports whether the next iteration is another prompt in the session of the last
// one: context is same, and the process that rests is that of the agent that works.
func (s *State) SessionGoesOn() bool {
	p := &s.Lifecycle.Process
	return s.Rules.Context == "same" && p.Parked && p.Agent == s.Failover.Agent
}

// Waiting says for what and until when a waiting loop waits.
func (s *State) Waiting() string {
	if s.Status() != event.StatusWaiting {
		return ""
	}
	return s.Wait.String()
}

// Doing says what the open iteration does, or that it has ended.
func (s *State) Doing() string { return doing[s.Lifecycle.Phase] }

var doing = map[policy.Phase]string{
	policy.Between:   "ended",
	policy.Beginning: "its prompt is being composed",
	policy.Opened:    "its prompt is ready",
	policy.Starting:  "the agent is being started",
	policy.Turning:   "the agent works",
	policy.Finished:  "the agent has finished",
	policy.Leaving:   "the agent's process is being ended",
	policy.Gone:      "the agent is gone or parked",

	policy.Checking:      "what it left is being checked",
	policy.Checked:       "what it left is checked",
	policy.Committing:    "its work is being committed",
	policy.Settled:       "its work is committed or left as it is",
	policy.VerifyingDone: "ended; the file DONE is being verified",
}

// Pending says which pause or stop people asked for that is still to come, as in "pausing after
// iteration 9"; empty where there is none.
func (s *State) Pending() string {
	l := &s.Lifecycle
	switch {
	case l.Ended != nil:
		return ""
	case l.Phase == policy.Between:
		if l.NeedsResume() && s.Commands.Stopping == "" {
			return "" // it has paused
		}
		return s.Commands.Pending(0)
	}
	return s.Commands.Pending(l.Iteration)
}

// Deadline returns the earliest moment at which something has to be decided though
// nothing happens; false where there is none.
func (s *State) Deadline() (policy.Deadline, bool) {
	if s.Lifecycle.Ended != nil {
		return policy.Deadline{}, false
	}
	next, found := s.Idle.Next(&s.Lifecycle)
	if s.Lifecycle.Process.Killing {
		next, found = policy.Deadline{}, false // no deadline can do more
	}
	if s.Wait != nil && s.Wait.Until.After(s.At) {
		next, found = policy.Deadline{Name: policy.TimerOf(s.Wait.For), At: s.Wait.Until}, true
	}
	if at := s.TimeUp(); !at.IsZero() && s.Timed() && (!found || at.Before(next.At)) {
		next, found = policy.Deadline{Name: policy.TimerDuration, At: at}, true
	}
	return next, found
}

// lookGrace is how much longer than limits.duration a look at what the agent left may take: it is a
// matter of moments, and what was claimed would be lost with it. One that hangs is ended.
const lookGrace = 10 * time.Second

// TimeUp is when limits.duration ends what goes on now; zero where it is not set.
func (s *State) TimeUp() time.Time {
	at, limited := s.Budget.Until(s.Rules)
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
	return s.Rules.Guardrails == 0 && s.Phase.Verifying()
}

// Timed reports whether the end of the loop's time cuts short what goes on now: a wait, a look, the
// agent's turn, what the agent left running, guardrails. A commit comes to its end, and what was
// told to end already is not told again.
func (s *State) Timed() bool {
	if s.Idle.Lingering {
		return !s.Lifecycle.Process.Killing
	}
	switch p := s.Phase; {
	case p == policy.Between, p.Working():
		return !s.Process.Ending
	case p == policy.Beginning, p.Verifying():
		return !s.Cancelled
	}
	return false
}
