package main

import (
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/cli"
	"github.com/ralph-loop/ralph/internal/moving"
)

type exportVerb struct {
	cli.Placed
	Name   string `arg:"" optional:"" complete:"loop" help:"The loop, which must not run."`
	Output string `short:"o" placeholder:"FILE" help:"The new file; without it NAME.ralph in the current folder."`
	Undo   bool   `help:"Take the loop back: it can be resumed here again."`
	JSON   bool   `help:"Print what was written as JSON."`
}

// Help shows examples.
func (exportVerb) Help() string {
	return cli.Examples("ralph export demo", "ralph export demo -o /media/stick/demo.ralph", "ralph export demo --undo")
}

// Run writes the loop's folder and the repository's history to one file, for another machine.
func (v *exportVerb) Run(e *cli.Env) error {
	s, err := e.Find(v.Name)
	if err != nil {
		return err
	}
	if v.Undo {
		if err := moving.Undo(e, s); err != nil {
			return err
		}
		cli.Tell(e.Stderr, "loop %s is back; see to it that no other machine resumes it", s.Name)
		return nil
	}
	x, err := moving.Export(context.Background(), e, s, v.Output)
	if err != nil {
		return err
	}
	if v.JSON {
		return cli.PrintJSON(e.Stdout, x, "")
	}
	fmt.Fprintln(e.Stdout, cli.Clean(x.Text(e)))
	cli.Tell(e.Stderr, "loop %s is not resumed here any more; on the other machine: 'ralph import FILE', or 'ralph import FILE --into DIR' for a new work tree", s.Name)
	return nil
}
