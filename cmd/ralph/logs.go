package main

import (
	"github.com/ralph-loop/ralph/internal/cli"
	"github.com/ralph-loop/ralph/internal/journaltool"
)

type logsVerb struct {
	cli.Placed
	Source    string   `arg:"" optional:"" help:"The loop, a copy of its folder, or a segment of its journal, whatever its name; - reads it from stdin. Without it the loop that runs here."`
	Type      []string `short:"t" placeholder:"TYPE" help:"Only these types, such as loop.ended; tool. means all that begin with it."`
	Iteration string   `short:"i" placeholder:"N" help:"Only these iterations: 3, 2..4 or 5..."`
	Since     string   `placeholder:"TIME" help:"Only events since then: 2026-11-21T01:30:00Z, 01:30, or 10m for ten minutes ago."`
	Until     string   `placeholder:"TIME" help:"Only events until then, in the same forms."`
	Lines     int      `short:"n" placeholder:"N" help:"Only the last so many."`
	Follow    bool     `short:"f" help:"Go on until the loop ends."`
	JSON      bool     `help:"Print the journal's lines as they are."`
}

// Help shows examples.
func (logsVerb) Help() string {
	return cli.Examples(
		"ralph logs --follow",
		"ralph logs demo -i 3 -t tool.",
		"ralph logs --since 10m",
	)
}

// Run prints one line for each event.
func (v *logsVerb) Run(e *cli.Env) error {
	return journaltool.Log(e, v.Source, journaltool.LogOptions{
		Types: v.Type, Iterations: v.Iteration, Since: v.Since, Until: v.Until,
		Lines: v.Lines, Follow: v.Follow, JSON: v.JSON,
	})
}
