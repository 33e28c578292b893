package main

import (
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/logs"
	"github.com/ralph-loop/ralph/internal/front/logs/filter"
	"github.com/ralph-loop/ralph/journal/event"
)

type logsVerb struct {
	cli.Placed
	Source    string    `arg:"" optional:"" complete:"loop,file" help:"The loop, a copy of its folder, or a segment of its journal, whatever its name; - reads it from stdin. Without it the loop that runs here."`
	All       bool      `short:"A" help:"All loops of this machine; each line has its loop's name."`
	Grep      string    `short:"g" placeholder:"TEXT" help:"Only events with this text in what was said, called or returned. Exit code 0 if there are any, 1 if there are none."`
	Regexp    bool      `short:"E" help:"With --grep: the text is a regular expression."`
	Case      string    `enum:"smart,ignore,match" default:"smart" help:"With --grep: smart (capital letters in the text make the case matter), ignore or match."`
	Context   int       `short:"C" placeholder:"N" help:"With --grep: also this many events before and after each match."`
	Type      []string  `short:"t" complete:"type" placeholder:"TYPE" help:"Only these types, such as loop.ended; tool. means all that begin with it."`
	Tool      string    `placeholder:"NAME" help:"Only calls of this tool, and what they returned."`
	Iteration string    `short:"i" placeholder:"N" help:"Only these iterations, such as 3, 2..4 or 5.. (5 and later); 0 is what belongs to none."`
	Since     string    `placeholder:"TIME" help:"Only events since then: 2026-11-21T01:30:00Z, 01:30, 10m for ten minutes ago, today or yesterday."`
	Until     string    `placeholder:"TIME" help:"Only events until then, in the same forms."`
	From      event.Seq `placeholder:"SEQ" help:"Only this event and those after it."`
	Lines     int       `short:"n" placeholder:"N" help:"Only the last N events of a loop."`
	Follow    bool      `short:"f" help:"Keep printing new events until the loop ends."`
	JSON      bool      `help:"Print the journal's lines as they are; with --all, each in an object that names its loop."`
}

// Help shows examples.
func (logsVerb) Help() string {
	return cli.Examples(
		"ralph logs --follow",
		"ralph logs demo -i 3 -t tool.",
		"ralph logs --grep 'permission denied' -C 2",
		"ralph logs --all --since yesterday --grep 'TODO|FIXME' --regexp",
	)
}

// Run prints one line for each event.
func (v *logsVerb) Run(e *cli.Env) error {
	return logs.Print(e, v.Source, v.options())
}

func (v *logsVerb) options() logs.Options {
	return logs.Options{
		Options: filter.Options{Types: v.Type, Tool: v.Tool, Iterations: v.Iteration, Since: v.Since, Until: v.Until},
		All:     v.All, Lines: v.Lines, From: v.From, Follow: v.Follow, JSON: v.JSON,
		Grep: v.Grep, Regexp: v.Regexp, Case: v.Case, Context: v.Context,
	}
}
