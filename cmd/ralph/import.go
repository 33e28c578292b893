//go:build !ralph_core

package main

import (
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/fence"
	"github.com/ralph-loop/ralph/internal/verb/moving"
)

type importVerb struct {
	cli.Placed
	File    string `arg:"" complete:"file" help:"A file of 'ralph export'."`
	Into    string `placeholder:"DIR" help:"Make a work tree in this new folder, with the files as they were; without it, the loop becomes one of the current project, whose files stay as they are."`
	HeldOut bool   `help:"Keep the held-out guardrails of the file for the project: commands that run on what its loops claim."`
	// Of a take-over in a pool: the loop comes with its epoch, or not at all.
	Epoch uint64 `and:"claim" placeholder:"E" help:"For a pool: the epoch under which this host has taken the loop over."`
	Host  string `and:"claim" placeholder:"H" help:"For a pool: the name of this host."`
	From  string `and:"claim" placeholder:"G" help:"For a pool: the name of the host that had the loop."`
	Loop  string `placeholder:"ID" help:"For a pool: the loop's ID there, if its journal has another one."`
	JSON  bool   `help:"Print where the loop is as JSON."`
}

// Help shows examples.
func (importVerb) Help() string {
	return cli.Examples("ralph import demo.ralph --into ~/src/demo", "ralph import demo.ralph", "ralph import demo.ralph --held-out")
}

// Run unpacks an exported loop, which can be resumed then.
func (v *importVerb) Run(e *cli.Env) error {
	var claim *fence.Claim
	if v.Epoch > 0 {
		claim = &fence.Claim{Epoch: v.Epoch, Host: v.Host, From: v.From, Loop: v.Loop}
	}
	done, err := moving.Import(context.Background(), e, v.File, v.Into, v.HeldOut, claim)
	if err != nil {
		return err
	}
	if v.JSON {
		return cli.PrintJSON(e.Stdout, done, "")
	}
	fmt.Fprintf(e.Stdout, "loop %s of %s is in %s\n", done.Name, cli.Clean(done.From), cli.Clean(e.Short(done.Project)))
	if done.Tree != "" {
		cli.Tell(e.Stderr, "the files of the work tree are those of this project; those of the other machine are the commit %s: 'git diff %s' compares them", done.Tree, done.Tree)
	}
	there := ""
	if done.Project != e.Root() {
		there = " --project " + cli.AsTyped([]string{e.Short(done.Project)})
	}
	cli.Tell(e.Stderr, "hint: look at 'ralph status %s%s'; 'ralph start %s --resume%s' continues it", done.Name, there, done.Name, there)
	return nil
}
