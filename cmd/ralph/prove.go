//go:build !ralph_core

package main

import (
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/proving"
)

type proveVerb struct {
	cli.Placed
	Name     string        `arg:"" optional:"" complete:"loop" help:"The loop, which may run or have ended; without it the one that runs here, else the latest."`
	From     string        `placeholder:"REV" help:"Prove what differs from this commit, with the guardrails of the settings, without a loop."`
	Time     time.Duration `placeholder:"10m" help:"How long it may take; without it as prove.time says."`
	Mutants  *int          `placeholder:"20" help:"How many small changes are tried; without it as prove.mutants says."`
	Seed     int64         `placeholder:"N" help:"Choose other mutants; the same number and files give the same ones."`
	ExitWeak int           `placeholder:"N" help:"Exit with N if the done is weak, or by the agent's word."`
	Trust    bool          `help:"With --from: let the settings of this project count this once."`
	JSON     bool          `help:"Print JSON."`
}

// Help shows examples.
func (proveVerb) Help() string {
	return cli.Examples("ralph prove", "ralph prove demo --time 20m --mutants 40", "ralph prove --from main --exit-weak 3 --json")
}

// Run tries whether the guardrails can fail: on the program as it was before the loop, and on small
// changes of the lines that the loop changed.
func (v *proveVerb) Run(e *cli.Env) error {
	mutants := -1 // as the settings say
	if v.Mutants != nil {
		mutants = *v.Mutants
	}
	switch {
	case v.Mutants != nil && mutants < 0:
		return cli.Refuse("name a number such as 20; 0 tries none", "--mutants %d is no number of mutants", mutants)
	case v.Time < 0:
		return cli.Refuse("write it as 10m", "--time %s is no time", v.Time)
	case v.ExitWeak < 0 || v.ExitWeak > 255:
		return cli.Refuse("name one from 1 to 255", "--exit-weak %d is no exit code", v.ExitWeak)
	}
	return proving.Prove{
		Name: v.Name, From: v.From, Time: v.Time, Mutants: mutants, Seed: v.Seed, ExitWeak: v.ExitWeak, Trust: v.Trust, JSON: v.JSON,
	}.Run(e)
}
