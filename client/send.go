package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"sync/atomic"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// AnswerTime is how long a live runner may take to receive a command before Send withdraws it. It
// needs less than a millisecond, and more on a machine under full load. Tests change it, while
// nothing is sent.
var AnswerTime = 10 * time.Second

// An Outcome is what became of a command.
type Outcome string

// The outcomes of a command. Delivered, Refused and Withdrawn are final.
const (
	Received  Outcome = "received"  // the runner has it, and its journal does
	Delivered Outcome = "delivered" // it has taken effect
	Refused   Outcome = "refused"   // by the loop, which says why
	Withdrawn Outcome = "withdrawn" // before it took effect
	Kept      Outcome = "kept"      // an answer to a loop without a runner: the next one takes it
)

// Receipt is what is known of a command after Send.
type Receipt struct {
	ID        string         `json:"id"`
	Loop      string         `json:"loop"`
	Kind      inbox.Kind     `json:"kind"`
	Outcome   Outcome        `json:"outcome"` // empty while nothing is known
	How       event.Delivery `json:"how,omitempty"`
	Iteration int            `json:"iteration,omitempty"`
	Why       string         `json:"why,omitempty"` // of a refusal
	// of a question, and of an answer that was accepted
	Question int `json:"question,omitempty"`
	// of a withdraw: the message that is taken back, and its beginning
	Withdrawn string `json:"withdrawn,omitempty"`
	Text      string `json:"text,omitempty"`

	Orphan bool `json:"runnerEnded,omitempty"` // its runner ended before it was delivered
	// nothing happens until a person resumes the loop
	Resting bool `json:"resting,omitempty"`

	Key      string       `json:"-"` // of a setting
	Origin   event.Origin `json:"-"` // of the command, as the runner found it
	Replaced string       `json:"-"` // the answer that was kept before
}

// A NotRunningError says that a loop has no runner, which alone takes commands.
type NotRunningError struct {
	Loop   string
	Kind   inbox.Kind // of the command
	Reason string     // why it has ended; empty for one whose runner died
}

func (e *NotRunningError) Error() string {
	if e.Reason != "" {
		return fmt.Sprintf("loop %s is not running: it has ended (%s)", e.Loop, e.Reason)
	}
	return fmt.Sprintf("loop %s is not running", e.Loop)
}

// An UntakenError says that a runner did not report the receipt of a command. If it is withdrawn,
// no runner takes it any more.
type UntakenError struct {
	Loop      string
	Kind      inbox.Kind
	Withdrawn bool
	Alive     bool // the runner lives, and does not answer
}

func (e *UntakenError) Error() string {
	switch {
	case !e.Withdrawn:
		return fmt.Sprintf("%s was taken by loop %s, which has not reported the outcome", e.Kind, e.Loop)
	case e.Alive:
		return fmt.Sprintf("the runner does not answer: %s was not taken by loop %s within %s and is withdrawn", e.Kind, e.Loop, units.Plain(AnswerTime))
	}
	return fmt.Sprintf("loop %s ended before it took the %s, which is withdrawn", e.Loop, e.Kind)
}

// Send gives a command to a loop and waits until the loop has received it, then up to patience
// until it has taken effect. A refusal by the loop is no error. The answer to a question of a loop
// without a runner is kept for the next one, in place of an earlier one; for all else the error is
// then a *NotRunningError. If the runner does not take the command it is withdrawn, and the error
// is an *UntakenError. If ctx ends before the loop has received it, the error is the cause of that,
// and the loop may still take the command.
func Send(ctx context.Context, loop registry.Status, c inbox.Command, patience time.Duration) (Receipt, error) {
	r := Receipt{Loop: loop.Name, Kind: c.Kind, Key: c.Key}
	switch {
	case !loop.Live.Alive && c.Kind == inbox.Answer:
		return keepAnswer(r, loop, c)
	case !loop.Live.Alive:
		return r, &NotRunningError{loop.Name, c.Kind, loop.Head.Reason}
	}
	_, from, err := journal.Last(loop.Dir, 1)
	if err != nil {
		return r, fmt.Errorf("read the end of the journal of loop %s: %w", loop.Name, err)
	}
	if r.ID, err = Drop(loop.Name, loop.Dir, c); err != nil {
		return r, err
	}
	if err := r.await(ctx, loop.Dir, from.Seq, patience); err != nil {
		return r, err
	}
	if r.Outcome == "" {
		if ctx.Err() != nil {
			return r, fmt.Errorf("await what becomes of the %s for loop %s: %w", c.Kind, loop.Name, context.Cause(ctx))
		}
		return r, untaken(loop, r)
	}
	if r.Outcome == Received && !r.Orphan {
		state, err := loopstate.Open(loop.Dir)
		r.Resting = err == nil && state.NeedsResume()
	}
	return r, nil
}

// Drop puts a command into a loop's inbox and returns its id, without waiting. It sets From if it
// is empty. A command that is in the inbox, but may be lost in a power failure, is no error.
func Drop(name, loopDir string, c inbox.Command) (id string, err error) {
	c.From = cmp.Or(c.From, Sender("cli"))
	id, err = inbox.Drop(loopDir, c)
	if err != nil && id == "" {
		return "", fmt.Errorf("put the command into the inbox of loop %s: %w", name, err)
	}
	return id, nil
}

// Sender names the person of this process on this host, such as cli:ada@mill. It is a name: the
// runner asks the kernel whose process gave a command.
func Sender(program string) string {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, _ := os.Hostname()
	return program + ":" + name + "@" + host
}

// Final reports whether the outcome does not change any more.
func (r *Receipt) Final() bool {
	return r.Outcome == Delivered || r.Outcome == Refused || r.Outcome == Withdrawn
}

// await reads the events after seq until the command's outcome is known, the patience is over, or
// the runner has exited.
func (r *Receipt) await(ctx context.Context, dir string, seq event.Seq, patience time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	timer := time.AfterFunc(AnswerTime, cancel)
	defer timer.Stop()
	alive := Alive(ctx, dir, new(atomic.Bool))
	for e, err := range journal.Follow(alive, dir, journal.FollowOptions{FromSeq: seq + 1}) {
		if err != nil {
			return err
		}
		seq = e.Seq
		if !r.Apply(e) {
			continue
		}
		if r.Final() {
			return nil
		}
		timer.Reset(patience) // the runner has it; its delivery may take a while
	}
	if !errors.Is(context.Cause(alive), ErrNoRunner) {
		return nil
	}
	err := r.ApplyRest(dir, seq) // what the runner wrote before it exited
	r.Orphan = !r.Final()
	return err
}

// ApplyRest notes the outcome from the events after seq that are in the journal now.
func (r *Receipt) ApplyRest(loopDir string, seq event.Seq) error {
	for e, err := range Rest(loopDir, seq) {
		if err != nil {
			return err
		}
		if r.Apply(e) && r.Final() {
			break
		}
	}
	return nil
}

// Apply notes the outcome if an event is about the command, and reports whether it is.
func (r *Receipt) Apply(e event.Event) bool {
	payload, _ := event.Decode(e)
	switch p := payload.(type) {
	case event.QuestionAsked:
		if p.Command == r.ID {
			r.Question = p.Number
		}
	case event.QuestionAnswered:
		if p.Command == r.ID {
			r.Question = p.Number
		}
	case event.CommandReceived:
		if p.ID == r.ID {
			r.Outcome, r.Iteration, r.Origin = Received, e.Iter, p.Origin
			return true
		}
	case event.CommandDelivered:
		if p.ID == r.ID {
			r.Outcome, r.How, r.Iteration = Delivered, p.How, e.Iter
			return true
		}
	case event.CommandWithdrawn:
		if p.By == r.ID {
			r.Withdrawn, r.Text = p.ID, p.Text
		}
		if p.ID == r.ID {
			r.Outcome = Withdrawn
			return true
		}
	case event.CommandRefused:
		if p.ID == r.ID {
			r.Outcome, r.Why = Refused, p.Why
			return true
		}
	}
	return false
}

// untaken withdraws a command that was not taken, because the runner has exited or does not
// answer.
func untaken(loop registry.Status, r Receipt) error {
	withdrawn, err := inbox.Withdraw(loop.Dir, r.ID)
	if err != nil {
		return fmt.Errorf("withdraw the command from the inbox of loop %s: %w", loop.Name, err)
	}
	live, err := registry.Probe(loop.Dir)
	if err != nil {
		return fmt.Errorf("see whether loop %s has a runner: %w", loop.Name, err)
	}
	return &UntakenError{Loop: loop.Name, Kind: r.Kind, Withdrawn: withdrawn, Alive: live.Alive}
}

// keepAnswer puts the answer to a question of a loop without a runner into its inbox, where the
// next runner takes it. An answer to that question which waits there already is withdrawn.
func keepAnswer(r Receipt, loop registry.Status, c inbox.Command) (Receipt, error) {
	r.Outcome, r.Question = Kept, c.Question
	state, err := loopstate.Open(loop.Dir)
	if err != nil {
		return r, err
	}
	if _, r.Why = state.Questions.Answer(policy.Message{Question: c.Question, From: c.From, Text: c.Text}); r.Why != "" {
		r.Outcome = Refused
		return r, nil
	}
	waiting, err := inbox.Dropped(loop.Dir)
	if err != nil {
		return r, err
	}
	if r.ID, err = Drop(loop.Name, loop.Dir, c); err != nil {
		return r, err
	}
	for _, old := range waiting {
		if old.Kind != inbox.Answer || old.Question != c.Question {
			continue
		}
		if withdrawn, err := inbox.Withdraw(loop.Dir, old.ID); err == nil && withdrawn {
			r.Replaced = old.Text
		}
	}
	return r, nil
}
