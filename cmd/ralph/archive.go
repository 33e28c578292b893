//go:build !ralph_core

package main

import (
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/planning"
)

type archiveVerb struct {
	cli.Placed
	Label    string `placeholder:"TEXT" help:"Name the folder ralph-archive/DATE-TEXT; without it, the branch of the plan names it."`
	NoCommit bool   `help:"Do not commit the archive."`
	DryRun   bool   `help:"Show what would be moved, and move nothing."`
	JSON     bool   `help:"Print what was done as JSON."`
}

// Help shows examples.
func (archiveVerb) Help() string {
	return cli.Examples("ralph archive", "ralph archive --label first-try --no-commit")
}

// Run moves the plan to ralph-archive/, with a summary, and begins a new one. prompt.md stays.
func (v *archiveVerb) Run(e *cli.Env) error {
	a := planning.Archive{Label: v.Label, NoCommit: v.NoCommit, DryRun: v.DryRun, JSON: v.JSON}
	return a.Run(e)
}
