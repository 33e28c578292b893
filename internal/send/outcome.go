package send

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/cli"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/units"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// answerTime is how long a live runner may take to receive a command. It needs less than a
// millisecond, and more on a machine under full load. Tests lengthen it.
var answerTime = 10 * time.Second

// Report is the outcome of a command.
type Report struct {
	ID        string         `json:"id"`
	Loop      string         `json:"loop"`
	Kind      string         `json:"kind"`
	Outcome   string         `json:"outcome"` // received, delivered, refused, withdrawn, or kept for the next runner
	How       event.Delivery `json:"how,omitempty"`
	Iteration int            `json:"iteration,omitempty"`
	Why       string         `json:"why,omitempty"`
	// of a question, and of an answer that was accepted
	Question int `json:"question,omitempty"`
	// of a withdraw: the message that is taken back, and its beginning
	Withdrawn string `json:"withdrawn,omitempty"`
	Text      string `json:"text,omitempty"`

	Orphan bool `json:"runnerEnded,omitempty"` // its runner ended before it was delivered
	// nothing happens until a person resumes the loop
	Resting bool `json:"resting,omitempty"`

	key      string       // of a setting
	origin   event.Origin // of the command, as the runner found it
	replaced string       // the answer that was kept before
}

// kept is the outcome of an answer to a loop without a runner: the next one takes it.
const kept = "kept"

// watch reads the events after seq until the command's outcome is known, the patience is over, or
// the runner has exited.
func (f *Report) watch(dir string, seq event.Seq, patience time.Duration) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	timer := time.AfterFunc(answerTime, cancel)
	defer timer.Stop()
	alive := Alive(ctx, dir, new(atomic.Bool))
	for e, err := range journal.Follow(alive, dir, journal.FollowOptions{FromSeq: seq + 1}) {
		if err != nil {
			return err
		}
		seq = e.Seq
		if !f.Apply(e) {
			continue
		}
		if f.settled() {
			return nil
		}
		timer.Reset(patience) // the runner has it; its delivery may take a while
	}
	if !errors.Is(context.Cause(alive), ErrNoRunner) {
		return nil
	}
	err := f.rest(dir, seq)
	f.Orphan = !f.settled()
	return err
}

// rest reads what a runner wrote after seq before it exited.
func (f *Report) rest(dir string, seq event.Seq) error {
	for e, err := range Rest(dir, seq) {
		if err != nil {
			return err
		}
		if f.Apply(e) && f.settled() {
			break
		}
	}
	return nil
}

// settled reports whether the outcome is final.
func (f *Report) settled() bool {
	return f.Outcome == "delivered" || f.Outcome == "refused" || f.Outcome == outcomeWithdrawn
}

// Apply notes the outcome if an event is about the command, and reports whether it is.
func (f *Report) Apply(e event.Event) bool {
	payload, _ := event.Decode(e)
	switch p := payload.(type) {
	case event.QuestionAsked:
		if p.Command == f.ID {
			f.Question = p.Number
		}
	case event.QuestionAnswered:
		if p.Command == f.ID {
			f.Question = p.Number
		}
	case event.CommandReceived:
		if p.ID == f.ID {
			f.Outcome, f.Iteration, f.origin = "received", e.Iter, p.Origin
			return true
		}
	case event.CommandDelivered:
		if p.ID == f.ID {
			f.Outcome, f.How, f.Iteration = "delivered", p.How, e.Iter
			return true
		}
	case event.CommandWithdrawn:
		if p.By == f.ID {
			f.Withdrawn, f.Text = p.ID, p.Text
		}
		if p.ID == f.ID {
			f.Outcome = outcomeWithdrawn
			return true
		}
	case event.CommandRefused:
		if p.ID == f.ID {
			f.Outcome, f.Why = "refused", p.Why
			return true
		}
	}
	return false
}

// print prints the outcome. A refusal is an error.
func (f *Report) print(e *cli.Env, asJSON bool) error {
	if asJSON {
		err := cli.PrintJSON(e.Stdout, f, "")
		if err == nil && f.Outcome == "refused" {
			err = cli.Exit(event.ExitUsage)
		}
		return err
	}
	if err := f.refusal(); err != nil {
		return err
	}
	fmt.Fprintln(e.Stdout, f.Message())
	return nil
}

// refusal is the error of a command that the loop refused.
func (f *Report) refusal() error {
	if f.Outcome != "refused" {
		return nil
	}
	return cli.Refuse(f.hint(), "%s was refused by loop %s: %s", f.Kind, f.Loop, f.Why)
}

// Message says in a line what became of a command that was not refused.
func (f *Report) Message() string {
	kind, received := inbox.Kind(f.Kind), f.Outcome == "received"
	switch {
	case f.Outcome == outcomeWithdrawn:
		return fmt.Sprintf("%s withdrawn before the agent of loop %s had it", f.Kind, f.Loop)
	case f.Withdrawn != "":
		return fmt.Sprintf("withdrawn, the agent of loop %s will not get it: %s", f.Loop, cli.Clean(f.Text))
	case f.Outcome == kept && f.replaced != "":
		return fmt.Sprintf("answer kept for loop %s, in place of %q; 'ralph resume %s' continues the loop, with that in its prompt", f.Loop, f.replaced, f.Loop)
	case f.Outcome == kept:
		return fmt.Sprintf("answer kept for loop %s; 'ralph resume %s' continues the loop, with that in its prompt", f.Loop, f.Loop)
	case received && f.Orphan:
		return fmt.Sprintf("%s received by loop %s, whose runner has ended since; 'ralph start %s --resume' resumes it", f.Kind, f.Loop, f.Loop)
	case received && f.Resting:
		return fmt.Sprintf("%s received by loop %s; 'ralph resume %s' continues the loop, with that in its prompt", f.Kind, f.Loop, f.Loop)
	case received && kind == inbox.FollowUp:
		return fmt.Sprintf("follow-up received by loop %s; it will be in the prompt of iteration %d", f.Loop, f.Iteration+1)
	case received:
		return fmt.Sprintf("%s received by loop %s; the agent has it at its next step, or at the latest in the prompt of iteration %d", f.Kind, f.Loop, f.Iteration+1)
	case f.How != event.DeliveredLoop:
		return fmt.Sprintf("%s delivered at iteration %d of loop %s (%s)", f.Kind, f.Iteration, f.Loop, f.How)
	case kind == inbox.Ask:
		return fmt.Sprintf("question %d asked: work on; the answer will reach you as a message", f.Question)
	case kind == inbox.Wait:
		return fmt.Sprintf("wait noted by loop %s: end your turn; no other iteration begins before a person has resumed it", f.Loop)
	case kind == inbox.Blocked:
		return fmt.Sprintf("blocked noted by loop %s: end your turn; the loop ends then, and a person sees why", f.Loop)
	}
	taken := fmt.Sprintf("%s taken by loop %s in iteration %d", f.Kind, f.Loop, f.Iteration)
	if kind == inbox.Resume {
		taken += "; it goes on"
	}
	return taken
}

// hint is the next step after a refusal.
func (f *Report) hint() string {
	if f.origin == event.OriginAgent || f.origin == event.OriginOther {
		return "do the work within what is set; 'ralph ask' asks a person"
	}
	if f.Kind == string(inbox.Answer) {
		return fmt.Sprintf("'ralph answer %s' lists the open questions", f.Loop)
	}
	switch {
	case f.Kind != string(inbox.Set):
		return fmt.Sprintf("'ralph status %s' shows what it does", f.Loop)
	case slices.Contains(config.LiveKeys(), f.key):
		return fmt.Sprintf("'ralph doctor --schema' and docs/reference/settings.md say what %s takes", f.key)
	}
	if _, known := config.Text(config.Defaults(), f.key); !known {
		these := "these may change: " + strings.Join(config.LiveKeys(), ", ")
		if near := config.Nearest(f.key, config.LiveKeys()); near != "" {
			these = fmt.Sprintf("did you mean %s? ", near) + these
		}
		return these
	}
	return fmt.Sprintf("'ralph stop %s', then 'ralph start %s --resume --set %s=…'", f.Loop, f.Loop, f.key)
}

// undelivered withdraws a command that was not taken, because the runner has exited or does not
// answer.
func undelivered(e *cli.Env, s registry.Status, f Report) error {
	withdrawn, err := inbox.Withdraw(s.Dir, f.ID)
	if err != nil {
		return err
	}
	live, err := registry.Probe(s.Dir)
	if err != nil {
		return err
	}
	switch {
	case !withdrawn:
		return cli.Failed(fmt.Sprintf("'ralph logs %s --type command.' shows it", e.NameToType(s)),
			"%s was taken by loop %s, which has not reported the outcome", f.Kind, s.Name)
	case live.Alive:
		return cli.Failed(fmt.Sprintf("'ralph kill %s' ends it in any case", e.NameToType(s)),
			"the runner does not answer: %s was not taken by loop %s within %s and is withdrawn", f.Kind, s.Name, units.Plain(answerTime))
	}
	return cli.Refuse(fmt.Sprintf("'ralph start %s --resume' resumes it", e.NameToType(s)), "loop %s ended before it took the %s, which is withdrawn", s.Name, f.Kind)
}
