//go:build !ralph_core

package main

import (
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/why"
)

type whyVerb struct {
	cli.Placed
	Name  string `arg:"" optional:"" complete:"loop" help:"The loop, or the number of an event of the loop that runs here; a loop of that name comes first."`
	Event string `arg:"" optional:"" help:"The number of an event, as 'ralph logs' shows it."`
	JSON  bool   `help:"Print JSON."`
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
func (v *whyVerb) Run(e *cli.Env) error { return why.Explain(e, v.Name, v.Event, v.JSON) }
