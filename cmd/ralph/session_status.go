//go:build !ralph_core

package main

import (
	"errors"
	"io/fs"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/hook"
)

type sessionStatusVerb struct {
	cli.Placed
	JSON bool `help:"Print JSON."`
}

// Help shows examples.
func (sessionStatusVerb) Help() string { return cli.Examples("ralph session status --json") }

// Run shows the session loops of a project.
func (v *sessionStatusVerb) Run(e *cli.Env) error {
	loops := []*hook.SessionLoop{}
	folder, err := hook.OpenSessionFolder(e.Home, e.Root())
	switch {
	case err == nil:
		defer folder.Close()
		loops = append(loops, folder.List()...)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if v.JSON {
		return cli.PrintJSON(e.Stdout, loops, "")
	}
	if len(loops) == 0 {
		cli.Tell(e.Stderr, "no session loop was started in this project")
	}
	_, err = e.Stdout.Write([]byte(cli.Clean(hook.Describe(loops, e.Now()))))
	return err
}
