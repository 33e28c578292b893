package loopstate

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// State is everything that decisions depend on: the folds of the policies. It is plain data, and
// bounded in size. It belongs to one goroutine; others get parts of it as JSON.
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
	Changes      policy.Changes       `json:"changes,omitzero"`
	Settings     policy.GivenSettings `json:"settings,omitzero"`
	Failover     policy.Failover      `json:"failover,omitzero"`
	Ownership    policy.Ownership     `json:"ownership,omitzero"`
	Breaker      policy.Breaker       `json:"breaker"`
	Escalation   policy.Escalation    `json:"escalation"`
	Holdout      policy.Holdout       `json:"holdout,omitzero"`
	Reflection   policy.Reflection    `json:"reflection,omitzero"`
	Proof        policy.Proof         `json:"proof,omitzero"`
	Stories      policy.Stories       `json:"stories,omitzero"`
	Votes        policy.Votes         `json:"votes,omitzero"`
	ToolSpans    policy.ToolSpans     `json:"toolSpans,omitzero"`
	Questions    policy.Questions     `json:"questions,omitzero"`
	Schedule     policy.Schedule      `json:"schedule,omitzero"`
	Fleet        policy.Fleet         `json:"fleet,omitzero"`
	Last         *Telemetry           `json:"last,omitempty"`   // of the last iteration that ended
	Commit       *Commit              `json:"commit,omitempty"` // of the iteration that began last
}

// Fold takes one event into the state. Its payload is decoded here, once. Each policy is given the
// loop as it was before the event, so that their order does not matter. An error means that the
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
	s.Commands.Apply(by, p, &was)
	s.Budget.Apply(e.At, by, p, &was)
	s.Breaker.Apply(e.At, p, &was, &s.Completion.Text)
	s.Completion.Apply(e.Iter, p, &was)
	s.Idle.Apply(e.At, p)
	s.Verification.Apply(p, &was)
	s.FileChanges.Apply(e.Iter, p)
	s.Changes.Apply(p)
	s.Settings.Apply(p, &was)
	s.Failover.Apply(e.At, p, &was)
	s.Ownership.Apply(p)
	s.Escalation.Apply(p, &was)
	s.Holdout.Apply(p, &was)
	s.Reflection.Apply(p, &was)
	s.Proof.Apply(p, &was)
	s.Stories.Apply(p, &was)
	s.Votes.Apply(p, &was)
	s.ToolSpans.Apply(e.At, p, &was)
	s.Questions.Apply(e.At, p)
	s.Schedule.Apply(e.At, p)
	s.Fleet.Apply(p)
	return nil
}

// payload decodes an event. For the most frequent types it reads only what the policies need, and
// no long text: that halves the time to rebuild a journal.
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
		return event.AgentUnparsed{Stream: jsonscan.Unquote(e.Field("stream"))}, nil
	}
	return event.Decode(e)
}

// restore begins a fold at a segment's checkpoint.
func (s *State) restore(seq event.Seq, opened event.SegmentOpened) error {
	if err := json.Unmarshal(opened.Checkpoint, s); err != nil {
		return err
	}
	// This is all that can be compared without reading earlier events; journal.Verify compares the
	// rest. A seal may come between.
	if s.Seq >= seq || s.Seq+2 < seq {
		return fmt.Errorf("its last event is %d, and the segment begins with event %d", s.Seq, seq)
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
		// A State is plain data from JSON, so its types are wrong.
		panic(fmt.Sprintf("loopstate: checkpoint: %v", err))
	}
	return data
}

// Status returns the loop's status: one of the Status constants of package event, or empty for a
// journal without a loop.
func (s *State) Status() event.Status {
	l := &s.Lifecycle
	switch {
	case l.Ended != nil:
		return l.Ended.Status
	case l.Started.IsZero():
		return ""
	case s.Ownership.Fenced != nil: // its end comes next
		return event.StatusStopped
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

// Leaving reports whether the loop has ended or has to end at once: if it has a runner, that exits
// when its agent has exited.
func (s *State) Leaving() bool {
	return s.Lifecycle.Ended != nil || s.Commands.Stopping.EndsNow()
}

// SessionGoesOn reports whether the next iteration is another prompt in the last one's session:
// context is same, and the parked process is the current agent's.
func (s *State) SessionGoesOn() bool {
	p := &s.Lifecycle.Process
	return s.Rules.Context == "same" && p.Parked && p.Agent == s.Failover.Agent
}

// Waiting says for what, and until when, the loop waits.
func (s *State) Waiting() string {
	if s.Status() != event.StatusWaiting {
		return ""
	}
	return s.Wait.String()
}

// Doing says what the open iteration does, or that it has ended.
func (s *State) Doing() string {
	if s.Lifecycle.Phase == policy.Proving && s.Proof.Mutants > 0 {
		return fmt.Sprintf("%s: %d of %d mutants", doing[policy.Proving], s.Proof.Mutants, s.Rules.Prove.Mutants)
	}
	return doing[s.Lifecycle.Phase]
}

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
	policy.Proving:       "proving the guardrails",
}

// Pending names a requested pause or stop that has not happened yet, such as "pausing after
// iteration 9"; empty if there is none.
func (s *State) Pending() string {
	l := &s.Lifecycle
	switch {
	case l.Ended != nil:
		return ""
	case l.Phase == policy.Proving && s.Completion.Accepted != "" && s.Commands.Stopping == "":
		return "" // it completes, and a pause from before does not happen
	case l.Phase == policy.Between:
		if l.NeedsResume() && s.Commands.Stopping == "" {
			return "" // it has paused
		}
		return s.Commands.Pending(0)
	}
	return s.Commands.Pending(l.Iteration)
}

// Deadline returns the earliest moment at which something has to be decided without another event;
// false if there is none.
func (s *State) Deadline() (policy.Deadline, bool) {
	if s.Lifecycle.Ended != nil {
		return policy.Deadline{}, false
	}
	next, found := s.Idle.Next(&s.Lifecycle)
	if s.Lifecycle.Process.Killing {
		next, found = policy.Deadline{}, false // a deadline cannot do more
	}
	if s.Wait != nil && s.Wait.Until.After(s.At) {
		next, found = policy.Deadline{Name: policy.TimerOf(s.Wait.For), At: s.Wait.Until}, true
	}
	if at := s.Schedule.Again(&s.Lifecycle); at.After(s.At) && s.Wait != nil && s.Wait.For == event.WaitHeld && (!found || at.Before(next.At)) {
		next, found = policy.Deadline{Name: policy.TimerHeld, At: at}, true
	}
	if at := s.TimeUp(); !at.IsZero() && s.Timed() && (!found || at.Before(next.At)) {
		next, found = policy.Deadline{Name: policy.TimerDuration, At: at}, true
	}
	return next, found
}

// lookGrace is how much longer than limits.duration an inspection of the agent's work may take: it
// takes moments, and without it a claim would be lost. One that hangs is ended.
const lookGrace = 10 * time.Second

// TimeUp returns when limits.duration ends what goes on now; zero if it is not set.
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

// Looking reports whether the agent's work is only inspected.
func (s *State) Looking() bool {
	return s.Rules.Guardrails == 0 && s.Phase.Verifying()
}

// Timed reports whether the end of the loop's time cuts short what goes on now: a wait, an
// inspection, the agent's turn, what the agent left running, guardrails. It does not cut short a
// commit, or what is being ended already.
func (s *State) Timed() bool {
	switch p := s.Phase; {
	case p == policy.Committing:
		return false
	case p.Cancellable(): // it comes first, also if an agent before left something running
		return !s.Cancelled
	case s.Idle.Lingering:
		return !s.Lifecycle.Process.Killing
	case p == policy.Between, p.Working():
		return !s.Process.Ending
	}
	return false
}
