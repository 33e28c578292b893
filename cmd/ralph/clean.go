package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/cleaning"
)

type cleanVerb struct {
	cli.Placed
	Names      []string `arg:"" optional:"" complete:"loops" name:"name" help:"Only these loops with those that they started, or folders of the archive; without a name, all loops that have ended."`
	OlderThan  string   `placeholder:"TIME" help:"Only those that ended at least this long ago: 12h, 30d."`
	LargerThan string   `placeholder:"SIZE" help:"Only those whose folder has more than this: 500kB, 100MB, 1.5GB."`
	Status     []string `placeholder:"STATUS" help:"Only these: completed, stopped, failed or died. Loops that died need this or their name."`
	Archived   *bool    `negatable:"" help:"Archived loops as well; --no-archived leaves them alone."`
	DryRun     bool     `help:"Show what would be removed, and remove nothing."`
	Yes        bool     `short:"y" help:"Do not ask."`
	JSON       bool     `help:"Print JSON; nothing is removed without --yes."`
}

// Help shows examples.
func (cleanVerb) Help() string {
	return cli.Examples(
		"ralph clean --dry-run",
		"ralph clean demo --yes",
		"ralph clean --older-than 30d --status completed",
		"ralph clean --larger-than 100MB --dry-run",
	)
}

// Run removes loops that have ended, with their folders. It never removes a live one. It removes
// one whose runner died only on request, and only if none of its processes runs any more.
func (v *cleanVerb) Run(e *cli.Env) error {
	choice := cleaning.Choice{Names: v.Names, OlderThan: v.OlderThan, Larger: v.LargerThan, Status: v.Status, Archived: v.Archived == nil || *v.Archived}
	chosen, kept, err := choice.Choose(e)
	if err != nil {
		return err
	}
	switch {
	case v.JSON:
	case len(chosen) == 0:
		cli.Tell(e.Stderr, "%s", kept.Nothing())
	case kept.Work > 0:
		cli.Tell(e.Stderr, "%s", kept.WithWork())
	}
	if v.DryRun || len(chosen) == 0 || v.JSON && !v.Yes {
		return v.print(e, chosen)
	}
	if !v.Yes {
		lines := cleaning.Lines(chosen, e.Now())
		for i := range lines {
			lines[i] = "  " + lines[i]
		}
		agreed, err := e.ConfirmAll("these would be removed, with all that they recorded", lines, "Remove them?",
			"the same with --yes removes them; with --dry-run it only shows them")
		if err == nil && !agreed {
			cli.Tell(e.Stderr, "nothing was removed")
		}
		if err != nil || !agreed {
			return err
		}
	}
	var failed error
	for i := range chosen {
		failed = errors.Join(failed, chosen[i].Remove(e))
	}
	return errors.Join(v.print(e, chosen), failed)
}

func (v *cleanVerb) print(e *cli.Env, loops []cleaning.Loop) error {
	if v.JSON {
		return cli.PrintJSON(e.Stdout, append([]cleaning.Loop{}, loops...), "")
	}
	verb := "removed"
	if v.DryRun {
		verb = "would remove"
	} else {
		loops = slices.DeleteFunc(slices.Clone(loops), func(l cleaning.Loop) bool { return !l.Removed })
	}
	for _, line := range cleaning.Lines(loops, e.Now()) {
		fmt.Fprintf(e.Stdout, "%s %s\n", verb, line)
	}
	return nil
}
