package attach

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"github.com/ralph-loop/ralph/internal/front/cli"
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
	NoStatus bool             // without a status line
	Plain    bool             // not on the full screen
	Inline   bool             // not on the alternate screen
	ReadOnly bool             // nothing can be typed
	Head     registry.Summary // the loop's state, if it is known
	// Resume resumes the loop in a folder, with settings that are raised for it.
	Resume func(e *cli.Env, dir string, raise map[string]string) error
}

// session is one person's view of a loop.
type session struct {
	*cli.Env
	Options
	name, dir string
	project   string
	view      render.Viewer
	screen    *screen
	history   *history
	status    *liveStatus      // nil without a status line
	input     *input           // nil without a keyboard
	ended     *event.LoopEnded // the last known end of the loop, if it was not resumed since
	seq       event.Seq        // of the last event shown
	stale     chan struct{}    // events came since the status was drawn
	heard     atomic.Bool      // events came since the runner was last checked
}

// Run shows a loop's state, its last events, and then its events as they come, until the loop ends
// or the person leaves. It reads nothing but the journal, so it neither delays the loop nor ends
// it. It returns the loop's exit code as an error, none if the person left.
func Run(e *cli.Env, name, dir string, o Options) error {
	// Probe before the journal is read: the journal of a dead runner is complete.
	live, err := registry.Probe(dir)
	if err != nil {
		return err
	}
	a := &session{Env: e, Options: o, name: name, dir: dir, screen: newScreen(e.Stdout), stale: make(chan struct{}, 1)}
	if a.fills() {
		return a.full(live, "", "")
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
	if live.Alive && a.listens() {
		fmt.Fprintln(e.Stdout, dim("type to steer the agent, /help for more, ctrl-d to leave", e.RenderOptions().Color))
	}
	a.ended, a.project = state.Ended, state.Project
	a.history = newHistory(a.screen)
	a.view = ViewOptions{JSON: o.JSON, Verbose: o.Verbose, Time: o.Time, Lines: o.Lines, diffs: e.IsTerminal()}.New(e, a.history)
	if text, ok := a.view.(*plain.Text); ok {
		text.Resume(state)
		if e.Drawable() && live.Alive {
			a.enableFooter(loop)
		}
	}
	from, err := a.showPast()
	if err != nil {
		return err
	}
	if !live.Alive {
		return a.finish()
	}
	return a.follow(from)
}

// The past is shown as the last events, in so many lines or as many as fit on the screen.
const (
	pastEvents = 1000
	pastLines  = 30
)

// showPast shows the last events and returns the position after them.
func (a *session) showPast() (journal.Position, error) {
	want := pastEvents
	if a.JSON {
		want = pastLines
	}
	past, from, err := journal.Last(a.dir, want)
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
	if err := a.view.Flush(); err != nil {
		return from, err
	}
	lines := pastLines
	if a.IsTerminal() {
		_, rows := a.Size()
		lines = max(rows-3, 5)
	}
	return from, a.history.open(lines)
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
	if a.status != nil {
		a.status.Event(ev)
	}
	a.noteOutcome(ev)
	a.seq = ev.Seq
	a.heard.Store(true)
	return a.view.Event(ev)
}

// finish returns how a loop without a runner ended.
func (a *session) finish() error {
	if err := a.view.Close(); err != nil {
		return err
	}
	return a.exit()
}

// exit returns how the loop ended as an error, none if its work is done.
func (a *session) exit() error {
	if a.ended == nil {
		return cli.Failed(fmt.Sprintf("'ralph start %s --resume' resumes it; its own output is in %s", a.name, a.Short(filepath.Join(a.dir, "runner.log"))),
			"the runner of loop %s died", a.name)
	}
	if code := a.ended.Reason.ExitCode(); code != event.ExitCompleted {
		return cli.Exit(code)
	}
	return nil
}

// listens reports whether a person can type. interactive reports whether the typed line can be
// drawn again; if not, the terminal's own line mode is used.
func (a *session) listens() bool {
	return !a.JSON && !a.ReadOnly && a.IsTerminal() && a.StdinIsTerminal()
}

func (a *session) interactive() bool { return a.listens() && a.Drawable() }

func dim(text string, color bool) string {
	if color {
		return "\x1b[2m" + text + "\x1b[0m"
	}
	return text
}
