package attach

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/ralph-loop/ralph/client"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/terminal"
	"github.com/ralph-loop/ralph/render/tui"
)

// fills reports whether the loop is shown on the full screen, or inline. Without a terminal at both
// ends, on a dumb one, in CI and with the options of the plain view, it is not.
func (a *session) fills() bool {
	if a.JSON || a.Plain || a.Time || a.NoStatus || a.Lines > 0 {
		return false
	}
	return a.Drawable() && a.StdinIsTerminal() && a.Variable("CI") == ""
}

// memoryMost is from how many bytes on memory is collected more often.
const memoryMost = 96 << 20

// full shows the loop in package tui until the person leaves. draft is a text with which the loop
// could not be resumed, and trouble says why.
func (a *session) full(live registry.Liveness, draft, trouble string) error {
	loop, err := projector.Load(a.dir)
	if err != nil {
		return err
	}
	state := loop.View()
	if state.Since.IsZero() && !live.Alive {
		return cli.Unbegun(a.name, a.Head)
	}
	a.project = state.Project
	debug.SetMemoryLimit(memoryMost)
	outcome, err := tui.Run(context.Background(), tui.Options{
		Name: a.name, Dir: a.dir, Live: live.Alive, Head: state.Summary,
		Draft: draft, Trouble: trouble, ReadOnly: a.ReadOnly, Inline: a.Inline, Verbose: a.Verbose,
		Environ: a.Environ, Now: a.Now, Alive: client.Alive,
		Send: func(c inbox.Command) (string, error) { return client.Drop(a.name, a.dir, c) },
		Rest: client.Rest, ShowCommit: a.ShowCommit,
	}, a.Program())
	for _, text := range outcome.Unsent {
		cli.Tell(a.Stderr, "not sent: %s", text)
	}
	if outcome.Resume == "" {
		return a.left(outcome, err)
	}
	resumed, kept, err := a.resume(outcome.Resume, outcome.Raise)
	if resumed {
		return err
	}
	var why bytes.Buffer
	cli.Report(&why, err)
	if live, err = registry.Probe(a.dir); err != nil {
		return err
	}
	return a.full(live, kept, strings.NewReplacer("ralph: error: ", "", "\nralph: hint: ", "; ", "\n", " ").Replace(why.String()))
}

// left reports what becomes of the loop that the person has left, on the screen that the shell has
// again. The exit code is that of the plain view.
func (a *session) left(outcome tui.Outcome, err error) error {
	if _, signaled := errors.AsType[*terminal.SignalError](err); signaled {
		if outcome.Ended == nil && !outcome.Died {
			fmt.Fprintf(a.Stderr, "ralph: left loop %s, which continues\n", a.name)
		}
		return cli.Exit(event.ExitInterrupted)
	}
	if err != nil && !errors.Is(err, terminal.ErrGone) {
		return err
	}
	if outcome.Ended == nil && !outcome.Died {
		fmt.Fprintf(a.Stderr, "ralph: left loop %s, which goes on; 'ralph attach %s' comes back, 'ralph stop %s' ends it\n", a.name, a.name, a.name)
		return nil
	}
	if loop, err := projector.Load(a.dir); err == nil && outcome.Ended != nil {
		v := loop.View()
		fmt.Fprintln(a.Stdout, render.Clean("loop "+a.name+" · "+v.Status.String()+" · "+render.Result(v)))
	}
	a.ended = outcome.Ended
	return a.exit()
}
