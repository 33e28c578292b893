//go:build !ralph_core

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/hook"
	"github.com/ralph-loop/ralph/render"
)

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
