package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/units"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// Each of these verbs drops one file into the loop's inbox and says what became
// of it, which it learns from the journal like everybody else.

// sending is what all of them can be told.
type sending struct {
	placed
	Loop string        `short:"l" name:"loop" placeholder:"NAME" help:"The loop; without it the one that runs here."`
	Wait time.Duration `default:"3s" help:"How long to wait for the agent to have it."`
	JSON bool          `help:"Say as JSON what became of it."`
}

type steerVerb struct {
	sending
	Text []string `arg:"" help:"What to tell the agent; - reads it from stdin. The name of a loop before other words is the loop to tell; words in quotes are one."`
}

func (v *steerVerb) Run(e *env) error {
	return v.tell(e, inbox.Steer, v.Text)
}

type followUpVerb struct {
	sending
	Text []string `arg:"" help:"What to tell the agent; - reads it from stdin. The name of a loop before other words is the loop to tell; words in quotes are one."`
}

func (v *followUpVerb) Run(e *env) error {
	return v.tell(e, inbox.FollowUp, v.Text)
}

// named is sending with the loop as the argument.
type named struct {
	placed
	Name string        `arg:"" optional:"" help:"The loop; without it the one that runs here."`
	Wait time.Duration `default:"3s" help:"How long to wait for the loop to take it."`
	JSON bool          `help:"Say as JSON what became of it."`
}

func (n named) sending() sending { return sending{Loop: n.Name, Wait: n.Wait, JSON: n.JSON} }

type stopVerb struct {
	named
	Now bool `help:"Do not wait for the end of the iteration."`
	All bool `short:"A" help:"All loops that run on this machine. A person is asked."`
	Yes bool `short:"y" help:"With --all: do not ask."`
}

func (v *stopVerb) Run(e *env) error {
	kind := inbox.Stop
	if v.Now {
		kind = inbox.StopNow
	}
	if v.All {
		return v.all(e, kind)
	}
	s, err := e.find(v.Name)
	if err != nil {
		return err
	}
	if !s.Live.Alive {
		return v.leftover(e, s)
	}
	return v.sending().sendTo(e, s, inbox.Command{Kind: kind})
}

// leftover is a stop of a loop that has no runner: there may be an agent that outlived it.
func (v *stopVerb) leftover(e *env, s registry.Status) error {
	left, err := leftBy(s)
	switch {
	case err != nil:
		return err
	case len(left) == 0:
		return notRunning(e, s)
	case v.Now:
		return endLeft(e, s, v.JSON)
	}
	return refuse(fmt.Sprintf("'ralph stop %s --now' ends what is left", e.called(s)), "loop %s has no runner, and its agent outlived it: %s", s.Name, spellStrays(left))
}

type pauseVerb struct{ named }

func (v *pauseVerb) Run(e *env) error { return v.sending().send(e, inbox.Command{Kind: inbox.Pause}) }

type resumeVerb struct{ named }

func (v *resumeVerb) Run(e *env) error { return v.sending().send(e, inbox.Command{Kind: inbox.Resume}) }

type setVerb struct {
	sending
	Setting []string `arg:"" placeholder:"KEY=VALUE" help:"Such as maximumIterations=30 or limits.idle=20m, after the name of a loop or alone."`
}

func (v *setVerb) Run(e *env) error {
	const hint = "write it as in 'ralph set maximumIterations=30', or 'ralph set NAME maximumIterations=30'"
	setting := v.Setting[len(v.Setting)-1]
	switch {
	case len(v.Setting) == 2 && v.Loop == "":
		v.Loop = v.Setting[0]
	case len(v.Setting) > 1:
		return refuse(hint, "one setting is changed at a time")
	}
	key, value, ok := strings.Cut(setting, "=")
	if !ok || key == "" || value == "" {
		return refuse(hint, "%q is not KEY=VALUE", setting)
	}
	s, err := e.find(v.Loop)
	if err != nil {
		return err
	}
	if err := v.sendTo(e, s, inbox.Command{Kind: inbox.Set, Key: key, Value: value}); err != nil || value == "none" {
		return err
	}
	if state, err := projector.Open(s.Dir); err == nil {
		if why := state.Life.Unreported(key); why != "" {
			tell(e.stderr, "%s: %s", key, why)
		}
	}
	return nil
}

// words joins arguments to one text; a single - stands for stdin.
func words(e *env, args []string) string {
	if len(args) == 1 && args[0] == "-" {
		if text, err := io.ReadAll(io.LimitReader(e.stdin, inbox.MaxSize)); err == nil {
			return strings.TrimSpace(string(text))
		}
	}
	return strings.Join(args, " ")
}

// tell sends words to the agent. The loop may stand before them.
func (v sending) tell(e *env, kind inbox.Kind, text []string) (err error) {
	if v.Loop == "" {
		if v.Loop, text, err = e.aimed(text); err != nil {
			return err
		}
	}
	return v.send(e, inbox.Command{Kind: kind, Text: words(e, text)})
}

func (v sending) send(e *env, c inbox.Command) error {
	s, err := e.find(v.Loop)
	if err != nil {
		return err
	}
	return v.sendTo(e, s, c)
}

// errDeaf means that a live runner did not take a command in time.
var errDeaf = errors.New("the runner does not answer")

// deafAfter is how long a live runner may take to take a command. It takes less than
// a millisecond; a machine under full load may need more.
const deafAfter = 10 * time.Second

// fate is what became of a command.
type fate struct {
	ID        string `json:"id"`
	Loop      string `json:"loop"`
	Kind      string `json:"kind"`
	Fate      string `json:"fate"` // received, delivered or refused
	How       string `json:"how,omitempty"`
	Iteration int    `json:"iteration,omitempty"`
	Why       string `json:"why,omitempty"`
	Orphan    bool   `json:"runnerEnded,omitempty"` // its runner ended before it was delivered
	Resting   bool   `json:"resting,omitempty"`     // nothing happens before a person resumes the loop

	key string // of a setting
}

func (v sending) sendTo(e *env, s registry.Status, c inbox.Command) error {
	if words := c.Kind == inbox.Steer || c.Kind == inbox.FollowUp; words && strings.TrimSpace(c.Text) == "" {
		return refuse(fmt.Sprintf("write it as in 'ralph %s \"leave the schema alone\"'", c.Kind), "there is nothing to tell the agent")
	}
	if !s.Live.Alive {
		return notRunning(e, s)
	}
	_, from, err := journal.Last(s.Dir, 1)
	if err != nil {
		return err
	}
	c.From = cmp.Or(c.From, sender())
	id, err := inbox.Drop(s.Dir, c)
	if err != nil && id == "" {
		return fmt.Errorf("put the command into the inbox of loop %s: %w", s.Name, err)
	}
	f := fate{ID: id, Loop: s.Name, Kind: string(c.Kind), key: c.Key}
	if err := f.watch(s.Dir, from.Seq+1, v.Wait); err != nil {
		return err
	}
	if f.Fate == "" {
		return undelivered(e, s, f)
	}
	if f.Fate == "received" && !f.Orphan {
		state, err := projector.Open(s.Dir)
		f.Resting = err == nil && state.Life.Paused
	}
	return f.tell(e, v.JSON)
}

// notRunning tells a loop that has ended from one whose runner died.
func notRunning(e *env, s registry.Status) error {
	how := ""
	if s.Head.Reason != "" {
		how = fmt.Sprintf(": it has ended (%s)", s.Head.Reason)
	}
	return refuse(fmt.Sprintf("'ralph start %s --resume' goes on with it", e.called(s)), "loop %s is not running%s", s.Name, how)
}

// watch reads the journal until the command's fate is known, for as long as it is
// worth waiting: a runner that has ended answers nobody.
func (f *fate) watch(dir string, from uint64, patience time.Duration) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	timer := time.AfterFunc(deafAfter, cancel)
	defer func() { timer.Stop() }()
	dead := died(ctx, dir, new(atomic.Bool))
	go func() {
		select {
		case <-dead:
			cancel()
		case <-ctx.Done():
		}
	}()
	next := from
	for e, err := range journal.Follow(ctx, dir, journal.FollowOptions{FromSeq: from}) {
		if err != nil {
			return err
		}
		next = e.Seq + 1
		if !f.take(e) {
			continue
		}
		if f.settled() {
			return nil
		}
		// Taken for good. What the agent makes of it may take a while.
		timer.Stop()
		timer = time.AfterFunc(patience, cancel)
	}
	if !closed(dead) {
		return nil
	}
	f.Orphan = true
	return f.rest(dir, next)
}

// rest reads what a runner wrote before it ended and nobody was shown yet.
func (f *fate) rest(dir string, from uint64) error {
	// The event before is there, whatever has been written since.
	for e, err := range journal.Read(dir, journal.ReadOptions{FromSeq: from - 1}) {
		if err != nil {
			return err
		}
		if f.take(e) && f.settled() {
			f.Orphan = false
			return nil
		}
	}
	return nil
}

// settled reports whether nothing more will be said of the command.
func (f *fate) settled() bool { return f.Fate == "delivered" || f.Fate == "refused" }

// take notes what an event says of the command.
func (f *fate) take(e event.Event) bool {
	switch e.Type {
	case event.TypeCommandReceived:
		p, err := event.As[event.CommandReceived](e)
		if err != nil || p.ID != f.ID {
			return false
		}
		f.Fate, f.Iteration = "received", e.Iter
	case event.TypeCommandDelivered:
		p, err := event.As[event.CommandDelivered](e)
		if err != nil || p.ID != f.ID {
			return false
		}
		f.Fate, f.How, f.Iteration = "delivered", p.How, e.Iter
	case event.TypeCommandRefused:
		p, err := event.As[event.CommandRefused](e)
		if err != nil || p.ID != f.ID {
			return false
		}
		f.Fate, f.Why = "refused", p.Why
	default:
		return false
	}
	return true
}

// tell says what became of the command. A refused one is an error.
func (f *fate) tell(e *env, asJSON bool) error {
	if asJSON {
		if err := printJSON(e.stdout, f, ""); err != nil {
			return err
		}
		if f.Fate == "refused" {
			return exit(event.ExitUsage)
		}
		return nil
	}
	switch {
	case f.Fate == "refused":
		return &failure{err: fmt.Errorf("%s was refused: %s", f.Kind, f.Why), code: event.ExitUsage, hint: f.hint()}
	case f.Fate == "received" && f.Orphan:
		fmt.Fprintf(e.stdout, "%s received by loop %s, whose runner has ended since; 'ralph start %s --resume' goes on with it\n", f.Kind, f.Loop, f.Loop)
	case f.Fate == "received" && f.Resting:
		fmt.Fprintf(e.stdout, "%s received by loop %s; it rests, and 'ralph resume %s' lets it go on, with that in its prompt\n", f.Kind, f.Loop, f.Loop)
	case f.Fate == "received" && f.Kind == string(inbox.FollowUp):
		fmt.Fprintf(e.stdout, "follow-up received by loop %s; it stands in the prompt of iteration %d\n", f.Loop, f.Iteration+1)
	case f.Fate == "received":
		fmt.Fprintf(e.stdout, "%s received by loop %s; the agent has it at its next step, or at the latest in the prompt of iteration %d\n", f.Kind, f.Loop, f.Iteration+1)
	case f.How == "loop" && f.Kind == string(inbox.Wait):
		fmt.Fprintf(e.stdout, "wait noted by loop %s: end your turn; no other iteration begins before a person has resumed it\n", f.Loop)
	case f.How == "loop" && f.Kind == string(inbox.Blocked):
		fmt.Fprintf(e.stdout, "blocked noted by loop %s: end your turn; it ends with that, and a person is told why\n", f.Loop)
	case f.How == "loop" && f.Kind == string(inbox.Resume):
		fmt.Fprintf(e.stdout, "resume taken by loop %s in iteration %d; it goes on\n", f.Loop, f.Iteration)
	case f.How == "loop":
		fmt.Fprintf(e.stdout, "%s taken by loop %s in iteration %d\n", f.Kind, f.Loop, f.Iteration)
	default:
		fmt.Fprintf(e.stdout, "%s delivered at iteration %d of loop %s (%s)\n", f.Kind, f.Iteration, f.Loop, f.How)
	}
	return nil
}

// hint is the next step after a refusal.
func (f *fate) hint() string {
	if f.Kind != string(inbox.Set) || slices.Contains(config.LiveKeys(), f.key) {
		return ""
	}
	if _, known := config.Text(config.Defaults(), f.key); !known {
		return "these may change: " + strings.Join(config.LiveKeys(), ", ")
	}
	return fmt.Sprintf("'ralph stop %s', then 'ralph start %s --resume --set %s=…'", f.Loop, f.Loop, f.key)
}

// undelivered takes back a command that nobody took: the runner ended meanwhile,
// or does not answer.
func undelivered(e *env, s registry.Status, f fate) error {
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
		return &failure{
			err:  fmt.Errorf("%s was taken by loop %s, which has not said what became of it", f.Kind, s.Name),
			hint: fmt.Sprintf("'ralph logs %s --type command.' shows it", e.called(s)), code: event.ExitFailed,
		}
	case live.Alive:
		return &failure{
			err:  fmt.Errorf("%w: %s was not taken by loop %s within %s and is withdrawn", errDeaf, f.Kind, s.Name, units.Plain(deafAfter)),
			hint: fmt.Sprintf("'ralph kill %s' ends it in any case", e.called(s)), code: event.ExitFailed,
		}
	}
	return refuse(fmt.Sprintf("'ralph start %s --resume' goes on with it", e.called(s)), "loop %s ended before it took the %s, which is withdrawn", s.Name, f.Kind)
}

// sender says who sends: the user and host as people know them.
func sender() string {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, _ := os.Hostname()
	return "cli:" + name + "@" + host
}
