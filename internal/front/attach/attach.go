package attach

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync/atomic"
	"syscall"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/loopfolder"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/plain"
)

// Options say how a loop is attached to.
type Options struct {
	JSON     bool
	Verbose  bool
	Time     bool
	Lines    int              // of what a tool prints, on the plain attach; 0 is the usual number
	Plain    bool             // not on the full screen
	Inline   bool             // not on the alternate screen
	ReadOnly bool             // nothing can be typed
	Head     registry.Summary // the loop's state, if it is known
	// Screen shows the loop on the full screen, where a person can type; nil without one.
	Screen func(e *cli.Env, name, dir string, o Options) error
	// Resume resumes the loop in a folder, with settings that are raised for it.
	Resume func(e *cli.Env, dir string, raise map[string]string) error
}

// session is one person's view of a loop.
type session struct {
	*cli.Env
	Options
	name, dir string
	view      render.Viewer
	past      *history
	ended     *event.LoopEnded // the last known end of the loop, if it was not resumed since
	seq       event.Seq        // of the last event shown
	heard     atomic.Bool      // events came since the runner was last checked
}

// Run shows a loop's state, its last events, and then its events as they come, until the loop ends
// or the person leaves. It reads nothing but the journal, so it neither delays the loop nor ends
// it. It returns the loop's exit code as an error, none if the person left.
func Run(e *cli.Env, name, dir string, o Options) error {
	if o.Screen != nil && o.Fills(e) {
		return o.Screen(e, name, dir, o)
	}
	// A person may leave before the past is shown.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	// Probe before the journal is read: the journal of a dead runner is complete.
	live, err := registry.Probe(dir)
	if err != nil {
		return err
	}
	// Print the first line before anything that takes longer.
	known := o.Head.Seq > 0
	if known && !o.JSON {
		fmt.Fprintln(e.Stdout, Header(e, name, o.Head, live.Alive))
	}
	loop, err := projector.Load(dir)
	if err != nil {
		return err
	}
	state := loop.View()
	if state.Since.IsZero() && !live.Alive {
		return cli.Unbegun(name, o.Head)
	}
	if !known && !o.JSON {
		fmt.Fprintln(e.Stdout, Header(e, name, state.Summary, live.Alive))
	}
	a := newSession(e, name, state, o)
	a.dir = dir
	from, err := a.showPast()
	if err != nil {
		return err
	}
	if !live.Alive {
		return a.finish()
	}
	if e.IsTerminal() && e.StdinIsTerminal() && !o.JSON { // it echoes what is typed, as if that were sent
		cli.Tell(e.Stderr, "nothing is typed here: 'ralph steer %s TEXT' in another terminal reaches the agent, ctrl-c leaves", name)
	}
	return a.follow(from, signals)
}

func newSession(e *cli.Env, name string, state projector.View, o Options) *session {
	a := &session{Env: e, Options: o, name: name, ended: state.Ended, past: newHistory(e.Stdout)}
	a.view = ViewOptions{JSON: o.JSON, Verbose: o.Verbose, Time: o.Time, Lines: o.Lines, diffs: e.IsTerminal()}.New(e, a.past)
	if text, ok := a.view.(*plain.Text); ok {
		text.Resume(state)
	}
	return a
}

// Fills reports whether the loop is shown on the full screen, or inline. Without a terminal at both
// ends, on a dumb one, in CI and with the options of the plain view, it is not.
func (o Options) Fills(e *cli.Env) bool {
	if o.JSON || o.Plain || o.Time || o.Lines > 0 {
		return false
	}
	return e.Drawable() && e.StdinIsTerminal() && e.Variable("CI") == ""
}

const pastLines = 30 // or as many as fit on the screen

// PastEvents is how many of the last events are shown before those that come.
func (o Options) PastEvents() int {
	if o.JSON {
		return pastLines
	}
	return 1000
}

// showPast shows the last events and returns the position after them.
func (a *session) showPast() (journal.Position, error) {
	past, from, err := journal.Last(a.dir, a.PastEvents())
	damage, damaged := errors.AsType[*journal.CorruptError](err)
	if damaged && from.Segment != "" { // the events after the damage, and new ones, can be shown
		cli.Tell(a.Stderr, "warning: %v; what follows is shown, and %s", damage, damage.Hint())
		err = nil
	}
	if err != nil {
		return from, err
	}
	for _, ev := range past {
		if err := a.show(ev); err != nil {
			return from, err
		}
	}
	return from, a.openPast()
}

// openPast prints the last lines of the events up to now.
func (a *session) openPast() error {
	if err := a.view.Flush(); err != nil {
		return err
	}
	lines := pastLines
	if a.IsTerminal() {
		_, rows := a.Size()
		lines = max(rows-3, 5)
	}
	return a.past.open(lines)
}

// show shows an event and notes whether it ends the loop.
func (a *session) show(ev event.Event) error {
	switch ev.Type {
	case event.TypeLoopEnded:
		if p, err := event.As[event.LoopEnded](ev); err == nil {
			a.ended = &p
		}
	case event.TypeLoopResumed, event.TypeLoopStarted:
		a.ended = nil
	}
	a.seq = ev.Seq
	a.heard.Store(true)
	return a.view.Event(ev)
}

// ErrSignal says that a signal came before the loop ended.
var ErrSignal = errors.New("a signal came")

// follow shows events as they come until the loop ends, its runner dies or the person leaves.
func (a *session) follow(from journal.Position, signals <-chan os.Signal) error {
	ctx, leave := context.WithCancelCause(context.Background())
	defer leave(nil)
	alive := client.Alive(ctx, a.dir, &a.heard)
	go func() {
		select {
		case <-alive.Done():
		case <-signals:
			leave(ErrSignal)
		}
	}()
	if err := showLive(alive, a.dir, journal.FollowOptions{From: from}, a.show, a.flush); err != nil {
		return err
	}
	switch why := context.Cause(alive); {
	case errors.Is(why, ErrSignal):
		return a.leave()
	case errors.Is(why, client.ErrNoRunner):
		if err := showRest(a.dir, a.seq, a.show); err != nil { // written before the lock was released
			return err
		}
	}
	ended := a.finish()
	client.AwaitExit(a.dir)
	return ended
}

// leave reports that the person left the loop, which runs.
func (a *session) leave() error {
	fmt.Fprintf(a.Stderr, "ralph: left loop %s, which goes on; 'ralph attach %s' comes back, 'ralph stop %s' ends it\n", a.name, a.name, a.name)
	return cli.Exit(event.ExitInterrupted)
}

// flush completes the output when no event waits.
func (a *session) flush() error {
	if text, ok := a.view.(*plain.Text); ok && a.IsTerminal() {
		columns, _ := a.Size()
		text.SetWidth(columns)
	}
	return a.view.Flush()
}

// finish returns how a loop without a runner ended.
func (a *session) finish() error {
	if err := a.view.Close(); err != nil {
		return err
	}
	return ExitCode(a.Env, a.name, a.dir, a.ended)
}

// ExitCode returns how a loop ended as an error, none if its work is done. A loop without a runner
// that has not ended died.
func ExitCode(e *cli.Env, name, dir string, ended *event.LoopEnded) error {
	if ended == nil {
		return cli.Failed(fmt.Sprintf("'ralph start %s --resume' resumes it; its own output is in %s", name, e.Short(filepath.Join(dir, loopfolder.RunnerLog))),
			"the runner of loop %s died", name)
	}
	return exitOf(ended)
}

func exitOf(ended *event.LoopEnded) error {
	if code := ended.Reason.ExitCode(); code != event.ExitCompleted {
		return cli.Exit(code)
	}
	return nil
}
