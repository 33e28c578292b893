package main

import (
	"context"

	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/statuspage"
)

type statusVerb struct {
	cli.Placed
	Name string `arg:"" optional:"" complete:"loop" help:"The loop; without it the one that runs here."`
	JSON bool   `help:"Print the state as state.json has it, and the loop's runner."`
}

// Help shows examples.
func (statusVerb) Help() string { return cli.Examples("ralph status", "ralph status demo --json") }

// Run shows the state of one loop. It exits with 0, even if the loop has failed.
func (v *statusVerb) Run(e *cli.Env) error {
	s, _, err := e.FindOrCopy(v.Name)
	if err != nil {
		return err
	}
	state, err := statuspage.Open(s)
	if err != nil {
		return err
	}
	refs, files, err := keep.Kept(context.Background(), s.Project, state.Lifecycle.ID, s.Dir, e.Environ...)
	if err != nil {
		cli.Tell(e.Stderr, "what was kept is not known: %v", err)
	}
	kept := statuspage.FindKept(s, &state, refs, files)
	if v.JSON {
		return cli.PrintJSON(e.Stdout, statuspage.JSON(s, &state, kept), "")
	}
	return statuspage.Write(e.Stdout, e.Now(), s, &state, kept, e.RenderOptions().Width)
}
