package main

import (
	"context"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/rollback"
)

type diffVerb struct {
	cli.Placed
	Words    []string `arg:"" optional:"" complete:"loop" name:"name-range-and-file" help:"The loop; N for what iteration N changed, N..M for what changed from before iteration N to before iteration M, or N.. up to now, without a range all that the loop changed; and a file, from the root of the repository."`
	Stat     bool     `help:"How many lines of each file changed, instead of the lines."`
	NameOnly bool     `help:"The names of the files alone."`
	JSON     bool     `help:"Print the files and their counts of lines as JSON."`
}

// Help shows examples.
func (diffVerb) Help() string {
	return cli.Examples("ralph diff demo", "ralph diff demo 3", "ralph diff demo 2..5 --stat", "ralph diff demo src/cart.go")
}

// Run compares the work trees that are kept before the iterations.
func (v *diffVerb) Run(e *cli.Env) error {
	return rollback.Diff{Words: v.Words, Stat: v.Stat, Names: v.NameOnly, JSON: v.JSON}.Run(context.Background(), e)
}
