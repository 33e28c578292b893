package main

import (
	"context"

	"github.com/ralph-loop/ralph/internal/effect/holdout"
	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/statuspage"
	"github.com/ralph-loop/ralph/render/reading"
)

type statusVerb struct {
	cli.Placed
	Name string `arg:"" optional:"" complete:"loop" help:"The loop; without it the one that runs here."`
	JSON bool   `help:"Print JSON."`
}

// Help shows examples.
func (statusVerb) Help() string { return cli.Examples("ralph status", "ralph status demo --json") }

// Run shows the state of one loop. It exits with 0, even if the loop has failed.
func (v *statusVerb) Run(e *cli.Env) error {
	s, _, err := e.FindOrCopy(v.Name)
	if err != nil {
		return err
	}
	view, err := cli.View(s)
	if err != nil {
		return err
	}
	refs, files, err := keep.Kept(context.Background(), view.Project, view.ID, view.Dir, e.Environ...)
	if err != nil {
		cli.Tell(e.Stderr, "what was kept is not known: %v", err)
	}
	statuspage.AddKept(view, refs, files)
	if h := view.HeldOut; h != nil && (h.Passed == 0 || h.Failed > 0) { // else what is there is of an earlier claim
		h.Outputs = holdout.Open(e.Home, view.Project).Outputs(view.Name)
	}
	reading.AddReviewed(e.Home, view)
	if v.JSON {
		return cli.PrintJSON(e.Stdout, view, "")
	}
	return statuspage.Write(e.Stdout, e.Now(), view, e.RenderOptions().Width)
}
