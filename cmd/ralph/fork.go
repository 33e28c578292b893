//go:build !ralph_core

package main

import (
	"github.com/ralph-loop/ralph/internal/front/attach"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/forking"
	"github.com/ralph-loop/ralph/internal/verb/launch"
)

type forkVerb struct {
	cli.Placed
	Name    string            `arg:"" complete:"loop" help:"The loop, which may run or have ended."`
	At      int               `required:"" placeholder:"N" help:"The iteration that is done again, with the files as they were before it."`
	As      string            `placeholder:"NAME" help:"The name of the new loop; without it NAME-2 or the next that is free."`
	Prompt  string            `short:"p" type:"filled" placeholder:"TEXT" help:"Another prompt of every iteration."`
	Agent   string            `short:"a" complete:"agent" placeholder:"AGENT" help:"Another agent: a name in the settings, or a command."`
	Model   string            `placeholder:"NAME" help:"Another model."`
	Set     map[string]string `complete:"setting" placeholder:"KEY=VALUE" mapsep:"none" help:"Another value of a setting, such as limits.cost=20."`
	NoStart bool              `help:"Make the new loop; 'ralph start NAME --resume' starts it."`
	Detach  bool              `short:"d" help:"Return once the loop is running."`
	JSON    bool              `help:"Print JSON; with --detach or --no-start."`
}

// Help shows examples.
func (forkVerb) Help() string {
	return cli.Examples("ralph fork demo --at 3", "ralph fork demo --at 3 --as other -a codex --detach",
		"ralph fork demo --at 1 -p 'Do it without a new dependency.'")
}

// Run makes a loop that begins as another one was before an iteration: with its journal and files
// up to there, in a worktree of its own, with another agent or prompt if wanted. Then it starts it.
func (v *forkVerb) Run(e *cli.Env) error {
	switch {
	case v.At < 1:
		return cli.Refuse("iterations are counted from 1", "--at %d is no iteration", v.At)
	case v.JSON && !v.Detach && !v.NoStart:
		return cli.Refuse("add --detach or --no-start", "--json is for a fork that is not attached to")
	}
	made, err := forking.Fork{Name: v.Name, At: v.At, As: v.As, Prompt: v.Prompt}.Make(e)
	if err != nil {
		return err
	}
	cli.Tell(e.Stderr, "loop %s begins as %s was before iteration %d, on the branch %s", made.Name, made.From, made.At, made.Branch)
	if v.NoStart {
		if v.JSON {
			return cli.PrintJSON(e.Stdout, made, "")
		}
		cli.Tell(e.Stderr, "hint: 'ralph start %s --resume' starts it", made.Name)
		return nil
	}
	start := launch.Start{Name: made.Name, Resume: true, Detach: v.Detach, JSON: v.JSON, Options: launch.Options{Agent: v.Agent, Model: v.Model, Set: v.Set}}
	return beginAndShow(e, &start, attach.Options{})
}
