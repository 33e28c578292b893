//go:build !ralph_core

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/hook"
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
