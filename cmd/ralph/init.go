//go:build !ralph_core

package main

import (
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/initialize"
	"github.com/ralph-loop/ralph/internal/verb/planning"
)

type initVerb struct {
	cli.Placed
	Tasks bool   `help:"Lay out a plan instead: the folder ralph/ with prd.md, tasks.json, progress.txt and prompt.md. It asks nothing and overwrites nothing."`
	Name  string `placeholder:"FEATURE" help:"With --tasks: the branch is ralph/FEATURE; without it, it is named after the present branch or the project."`
	JSON  bool   `help:"With --tasks: print what was made as JSON."`
}

// Help shows examples.
func (initVerb) Help() string {
	return cli.Examples("ralph init", "ralph init --tasks --name dark-mode")
}

// Run asks for the settings of this project and writes them, or lays out a plan.
func (v *initVerb) Run(e *cli.Env) error {
	if v.Tasks {
		return planning.LayOut(e, v.Name, v.JSON)
	}
	if v.Name != "" || v.JSON {
		return cli.Refuse("add --tasks", "--name and --json are about a plan")
	}
	return initialize.Initialize(e)
}
