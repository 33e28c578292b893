// Package fullscreen lets a person follow and steer a loop on the whole terminal, or inline, and
// resume it with what was typed as it ended.
package fullscreen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/attach"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/display"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/terminal"
	"github.com/ralph-loop/ralph/render/tui"
)

// memoryMost is from how many bytes on memory is collected more often.
const memoryMost = 96 << 20

// view is one person's view of a loop.
type view struct {
	*cli.Env
	attach.Options
	name, dir string
	project   string
}

// Run shows a loop until the person leaves. It returns what [attach.Run] would.
func Run(e *cli.Env, name, dir string, o attach.Options) error {
	return (&view{Env: e, Options: o, name: name, dir: dir}).show("", "")
}

// show shows the loop in package tui until the person leaves. draft is a text with which the loop
// could not be resumed, and trouble says why.
func (s *view) show(draft, trouble string) error {
	live, err := registry.Probe(s.dir)
	if err != nil {
		return err
	}
	loop, err := projector.Load(s.dir)
	if err != nil {
		return err
	}
	state := loop.View()
	if state.Since.IsZero() && !live.Alive {
		return cli.Unbegun(s.name, s.Head)
	}
	s.project = state.Project
	debug.SetMemoryLimit(memoryMost)
	outcome, err := tui.Run(context.Background(), tui.Options{
		Name: s.name, Dir: s.dir, Live: live.Alive, Head: state.Summary,
		Draft: draft, Trouble: trouble, ReadOnly: s.ReadOnly, Inline: s.Inline, Verbose: s.Verbose,
		Environ: s.Environ, Now: s.Now, Alive: client.Alive,
		Send: func(c inbox.Command) (string, error) { return client.Drop(s.name, s.dir, c) },
		Rest: client.Rest, ShowCommit: s.ShowCommit,
	}, display.Options(s.Env))
	for _, text := range outcome.Unsent {
		cli.Tell(s.Stderr, "not sent: %s", text)
	}
	if outcome.Resume == "" {
		return s.left(outcome, err)
	}
	resumed, unsent, err := s.resume(outcome.Resume, outcome.Raise)
	if resumed {
		return err
	}
	var why bytes.Buffer
	cli.Report(&why, err)
	return s.show(unsent, strings.NewReplacer("ralph: error: ", "", "\nralph: hint: ", "; ", "\n", " ").Replace(why.String()))
}

// left reports what becomes of the loop that the person has left, on the screen that the shell has
// again. The exit code is that of the plain view.
func (s *view) left(outcome tui.Outcome, err error) error {
	if _, signaled := errors.AsType[*terminal.SignalError](err); signaled {
		if outcome.Ended == nil && !outcome.Died {
			fmt.Fprintf(s.Stderr, "ralph: left loop %s, which continues\n", s.name)
		}
		return cli.Exit(event.ExitInterrupted)
	}
	if err != nil && !errors.Is(err, terminal.ErrGone) {
		return err
	}
	if outcome.Ended == nil && !outcome.Died {
		fmt.Fprintf(s.Stderr, "ralph: left loop %s, which goes on; 'ralph attach %s' comes back, 'ralph stop %s' ends it\n", s.name, s.name, s.name)
		return nil
	}
	if loop, err := projector.Load(s.dir); err == nil && outcome.Ended != nil {
		v := loop.View()
		fmt.Fprintln(s.Stdout, render.Clean("loop "+s.name+" · "+v.Status.String()+" · "+render.Result(v)))
	}
	return attach.ExitCode(s.Env, s.name, s.dir, outcome.Ended)
}

// resume resumes the loop with a text in its next prompt, and attaches to it. If it could not be
// resumed, unsent is the text, unless the loop has it.
func (s *view) resume(text string, raise map[string]string) (resumed bool, unsent string, err error) {
	project := *s.Env
	project.Cwd = s.project
	id, err := client.Drop(s.name, s.dir, inbox.Command{Kind: inbox.FollowUp, Text: text})
	if err != nil {
		return false, text, err
	}
	o := s.Options
	o.Head = registry.Summary{}
	if err = s.Resume(&project, s.dir, raise); err == nil {
		return true, "", attach.Run(&project, s.name, s.dir, o)
	}
	if withdrawn, gone := inbox.Withdraw(s.dir, id); withdrawn && gone == nil { // no runner has taken it
		unsent = text
	}
	return false, unsent, err
}
