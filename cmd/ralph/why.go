package main

import (
	"github.com/ralph-loop/ralph/internal/cli"
	"github.com/ralph-loop/ralph/internal/why"
)

type whyVerb struct {
	cli.Placed
	Words []string `arg:"" optional:"" complete:"loop" name:"name-seq" help:"The loop, then the number of an event as 'ralph logs' shows it; both may be left out. A number alone is an event, unless a loop has that name."`
	JSON  bool     `help:"Print JSON."`
}

// Help shows examples.
func (whyVerb) Help() string {
	return cli.Examples(
		"ralph why",
		"ralph why demo",
		"ralph why demo 412",
	)
}

// Run explains the present state of a loop, or one event.
func (v *whyVerb) Run(e *cli.Env) error { return why.Explain(e, v.Words, v.JSON) }
