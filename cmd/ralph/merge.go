package main

import (
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/merging"
)

type mergeVerb struct {
	cli.Placed
	Name    string `arg:"" complete:"loop" help:"The loop, which works in a worktree and must not run."`
	FFOnly  bool   `name:"ff-only" xor:"how" help:"Refuse all but a fast-forward."`
	NoFF    bool   `name:"no-ff" xor:"how" help:"Make a merge commit, even where a fast-forward is possible."`
	Squash  bool   `xor:"how" help:"Make one commit of all changes."`
	Message string `placeholder:"TEXT" help:"The message of the commits that are made."`
	Commit  bool   `help:"Commit what the agent left uncommitted, without asking."`
	NoCheck bool   `help:"Do not run the loop's guardrails on the result."`
	DryRun  bool   `help:"Make the result and run the guardrails on it, and leave the branch where it is."`
	JSON    bool   `help:"Print JSON."`
}

// Help shows examples.
func (mergeVerb) Help() string {
	return cli.Examples("ralph merge demo", "ralph merge demo --squash --message 'Port the parser'", "ralph merge demo --dry-run")
}

// Run merges the branch of a loop's worktree into the branch that is checked out in the project.
// The loop's guardrails run on the result before it counts. After a conflict, or if one fails,
// nothing is changed.
func (v *mergeVerb) Run(e *cli.Env) error {
	m := merging.Merge{Name: v.Name, Message: v.Message, Commit: v.Commit, NoCheck: v.NoCheck, DryRun: v.DryRun, JSON: v.JSON}
	switch {
	case v.FFOnly:
		m.How = repo.MergeFF
	case v.NoFF:
		m.How = repo.MergeCommit
	case v.Squash:
		m.How = repo.MergeSquash
	}
	return m.Run(e)
}
