package main

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/listing"
	"github.com/ralph-loop/ralph/projector"
)

type dismissVerb struct {
	cli.Placed
	Names []string `arg:"" optional:"" complete:"loop" name:"name" help:"The loops, each with those within it; without it the one that ran here last."`
}

// Help shows examples.
func (dismissVerb) Help() string {
	return cli.Examples("ralph dismiss demo", "ralph dismiss shop/tests")
}

// Run takes loops out of those that need a person. Nothing of them is removed.
func (v *dismissVerb) Run(e *cli.Env) error {
	names := v.Names
	if len(names) == 0 {
		names = []string{""}
	}
	for _, name := range names {
		s, err := e.Find(name)
		if err != nil {
			return err
		}
		said, err := listing.Dismiss(e, projector.Brief(s))
		if err != nil {
			return err
		}
		fmt.Fprintln(e.Stdout, said)
	}
	return nil
}
