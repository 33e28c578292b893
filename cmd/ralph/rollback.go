package main

import (
	"context"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/rollback"
)

type rollbackVerb struct {
	cli.Placed
	Name   string `arg:"" complete:"loop" help:"The loop, which must not run."`
	To     string `arg:"" name:"n" help:"Go back to the files as they were before this iteration, or to a ref that 'ralph status' shows."`
	Yes    bool   `short:"y" help:"Do not ask."`
	DryRun bool   `help:"Show which files would change, and change none."`
	JSON   bool   `help:"Print JSON; nothing is changed without --yes."`
}

// Help shows examples.
func (rollbackVerb) Help() string {
	return cli.Examples("ralph rollback demo 3 --dry-run", "ralph rollback demo 3")
}

// Run puts the files of the work tree back to how they were before an iteration. Commits, the index
// and ignored files stay, and nothing is lost: the files are kept first.
func (v *rollbackVerb) Run(e *cli.Env) error {
	r := rollback.Rollback{Name: v.Name, To: v.To, Yes: v.Yes, DryRun: v.DryRun, JSON: v.JSON}
	return r.Run(context.Background(), e)
}
