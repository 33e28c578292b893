//go:build !ralph_core

package main

import (
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/moving"
	"github.com/ralph-loop/ralph/registry"
)

type exportVerb struct {
	cli.Placed
	Name   string `arg:"" optional:"" complete:"loop" help:"The loop, which must not run."`
	Output string `short:"o" placeholder:"FILE" help:"The new file; without it NAME.ralph in the current folder."`
	Move   bool   `xor:"move" help:"Move the loop: it cannot be resumed here any more."`
	Undo   bool   `xor:"move" help:"Take a moved loop back: it can be resumed here again."`
	Yes    bool   `short:"y" help:"With --move: do not ask."`
	JSON   bool   `help:"Print what was written as JSON."`
	// Of a pool, which has the journal in chunks.
	Files bool     `xor:"move" hidden:"" help:"For a pool: write all but the journal, also while the loop runs."`
	Since []string `hidden:"" placeholder:"COMMIT" help:"With --files: leave out what these commits have."`
}

// Help shows examples.
func (exportVerb) Help() string {
	return cli.Examples("ralph export demo", "ralph export demo -o /media/stick/demo.ralph", "ralph export demo --move", "ralph export demo --undo")
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
	if v.Files {
		x, err := moving.Files(context.Background(), e, s, v.Output, v.Since)
		if err != nil {
			return err
		}
		return cli.PrintJSON(e.Stdout, x, "")
	}
	if v.Move && !v.Yes {
		if _, _, err := moving.Check(e, s, v.Output); err != nil {
			return err
		}
		if agreed, err := v.ask(e, s); err != nil || !agreed {
			return err
		}
	}
	x, err := moving.Export(context.Background(), e, s, v.Output, v.Move)
	if err != nil {
		return err
	}
	if v.JSON {
		return cli.PrintJSON(e.Stdout, x, "")
	}
	fmt.Fprintln(e.Stdout, cli.Clean(x.Text(e)))
	here := "can be resumed here as well: --move keeps it from that"
	if v.Move {
		here = "is not resumed here any more"
	}
	cli.Tell(e.Stderr, "loop %s %s; on the other machine: 'ralph import FILE', or 'ralph import FILE --into DIR' for a new work tree", s.Name, here)
	return nil
}

// ask asks before a loop is moved.
func (v *exportVerb) ask(e *cli.Env, s registry.Status) (bool, error) {
	lines := []string{"it continues where its file is imported", "'ralph export " + s.Name + " --undo' takes it back"}
	agreed, err := e.ConfirmAll("loop "+s.Name+" would not be resumed here any more", lines, "Move it?",
		"the same with --yes moves it; without --move it is copied, and stays here as well")
	if err == nil && !agreed {
		cli.Tell(e.Stderr, "nothing was written")
	}
	return agreed, err
}
