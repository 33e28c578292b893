package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/hook"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/render"
)

type sessionVerb struct {
	Start  sessionStartVerb  `cmd:"" help:"Hold this session until its agent writes the promise; needs the hook stop."`
	Cancel sessionCancelVerb `cmd:"" help:"Let the session stop."`
	Status sessionStatusVerb `cmd:"" help:"Show the session loops of this project and what they decided."`
}

type sessionStartVerb struct {
	cli.Placed
	Task              []string    `arg:"" help:"What the agent has to do."`
	MaxIterations     int         `short:"m" default:"20" placeholder:"N" help:"Let the agent stop after it was sent back this often."`
	CompletionPromise string      `default:"DONE" placeholder:"WORD" help:"The agent ends the loop with <promise>WORD</promise>."`
	MinToolCalls      int         `default:"1" placeholder:"N" help:"A promise needs at least this many tool calls since the start."`
	OnPromiseNoWork   hook.NoWork `name:"on-promise-no-work" enum:"reject,accept" default:"reject" help:"What becomes of a promise without enough tool calls: reject or accept."`
	Prefix            string      `placeholder:"TEXT" help:"Put this text before each message that sends the agent back."`
	JSON              bool        `help:"Print the state as JSON."`
}

// Help shows examples.
func (sessionStartVerb) Help() string {
	return cli.Examples("ralph session start 'Make the tests pass' -m 10", "ralph session start 'Port it' --completion-promise PORTED --min-tool-calls 5")
}

// Run writes the state of a new loop and prints what its agent has to read.
func (v *sessionStartVerb) Run(e *cli.Env) error {
	l := &hook.SessionLoop{
		Task: strings.Join(v.Task, " "), Promise: v.CompletionPromise, Prefix: v.Prefix, MaxIterations: v.MaxIterations,
		MinToolCalls: v.MinToolCalls, OnNoWork: v.OnPromiseNoWork, Cwd: e.Cwd, Sessions: hook.SessionNames(e.Variable),
		Started: e.Now().UTC(), Files: hook.FilesOf(context.Background(), e.Cwd),
	}
	if err := l.Check(); err != nil {
		return cli.Refuse("see 'ralph session start --help'", "%w", err)
	}
	if err := launch.OwnFolders(e, filepath.Join(e.Root(), cli.RalphFolder, "session")); err != nil {
		return err
	}
	if err := launch.PrepareFolder(filepath.Join(e.Root(), cli.RalphFolder)); err != nil {
		return err
	}
	folder, err := hook.MakeSessionFolder(e.Home, e.Root())
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := folder.Start(l); err != nil {
		if busy, ok := errors.AsType[*hook.BusySessionError](err); ok {
			return cli.Refuse("'ralph session cancel' ends it", "%w: %s", err, render.Clean(busy.Loop.Task))
		}
		return err
	}
	if v.JSON {
		return cli.PrintJSON(e.Stdout, l, "")
	}
	if len(l.Sessions) == 0 {
		cli.Tell(e.Stderr, "the next session that is about to stop in this project is held")
	}
	_, err = fmt.Fprintln(e.Stdout, cli.Clean(l.Contract()))
	return err
}

type sessionCancelVerb struct {
	cli.Placed
	ID string `arg:"" optional:"" help:"A loop, as 'ralph session status' shows it; without it the one of this session, else the only one."`
}

// Help shows examples.
func (sessionCancelVerb) Help() string { return cli.Examples("ralph session cancel") }

// Run lets a held session stop.
func (v *sessionCancelVerb) Run(e *cli.Env) error {
	folder, err := hook.OpenSessionFolder(e.Home, e.Root())
	if errors.Is(err, fs.ErrNotExist) {
		return noSessionLoop
	} else if err != nil {
		return err
	}
	defer folder.Close()
	l, err := v.choose(e, folder.List())
	if err != nil {
		return err
	}
	if _, err := folder.Cancel(l.ID, e.Now().UTC(), "'ralph session cancel' was called"); err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.Stdout, "%s: %s\n", hook.Cancelled, render.Clean(l.Task))
	return err
}

var noSessionLoop = cli.Refuse("'ralph session start TASK' starts one", "no session loop is active in this project")

// choose returns the active loop that is meant.
func (v *sessionCancelVerb) choose(e *cli.Env, all []*hook.SessionLoop) (*hook.SessionLoop, error) {
	all = slices.DeleteFunc(all, func(l *hook.SessionLoop) bool { return !l.Active() || v.ID != "" && v.ID != l.ID })
	if own := slices.IndexFunc(all, func(l *hook.SessionLoop) bool { return l.Holds(hook.SessionNames(e.Variable)...) }); own >= 0 {
		return all[own], nil
	}
	switch len(all) {
	case 0:
		return nil, noSessionLoop
	case 1:
		return all[0], nil
	}
	return nil, cli.Refuse("name one: 'ralph session status' shows them", "%d session loops are active in this project", len(all))
}
