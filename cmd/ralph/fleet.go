//go:build !ralph_core

package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/ralph-loop/ralph/internal/front/attach"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/fleet"
)

type fleetVerb struct {
	cli.Placed
	attach.Weak
	Name      string            `arg:"" optional:"" default:"fleet" help:"The name of the fleet; its loops are called NAME-TASK."`
	Parallel  int               `short:"n" default:"4" placeholder:"N" help:"How many loops work at once."`
	From      string            `placeholder:"DIR" help:"A folder of task files, *.md; without it, the stories of ralph/tasks.json."`
	Agent     string            `short:"a" complete:"agent" placeholder:"AGENT" help:"The agent: a name in the settings, or a command."`
	Conflicts string            `default:"agent" enum:"agent,person" help:"Who resolves a conflict of a merge: the agent that made the change, or a person."`
	Set       map[string]string `complete:"setting" placeholder:"KEY=VALUE" mapsep:"none" help:"A setting of each loop; limits.cost, limits.tokens and limits.duration are those of the whole fleet."`
	Trust     bool              `help:"Trust the settings of this project this once, whatever they run."`
	Anyway    bool              `help:"Skip the trial run of the guardrails, which refuses one that cannot run at all."`
	Detach    bool              `short:"d" help:"Return once the fleet is running."`
	List      bool              `help:"Print the tasks as JSON, each after those that it depends on, and begin none."`
	JSON      bool              `help:"With --detach: print as JSON what was started."`
}

// Help shows examples.
func (fleetVerb) Help() string {
	return cli.Examples("ralph fleet -n 4", "ralph fleet demo -n 3 --from tasks/ -a claude --limits.cost 20 --detach")
}

// Run starts a fleet: a loop that lets several loops work through tasks at once, each in a
// worktree, and merges what they did one at a time into a branch of its own.
func (v *fleetVerb) Run(e *cli.Env) error {
	if v.List {
		tasks, err := fleet.List(e, v.From)
		if err != nil {
			return err
		}
		return cli.PrintJSON(e.Stdout, tasks, "")
	}
	if err := v.Refuse(v.Detach); err != nil {
		return err
	}
	f := fleet.Fleet{Agent: fleet.Agent{Parallel: v.Parallel, Folder: v.From, Conflicts: v.Conflicts}, Trust: v.Trust,
		Anyway: v.Anyway, Name: v.Name, Command: v.Agent, Set: v.Set}
	start, tasks, err := f.Start(e)
	if err != nil {
		return err
	}
	cli.Tell(e.Stderr, "%d tasks, %d at once", len(tasks.List), v.Parallel)
	start.Detach, start.JSON = v.Detach, v.JSON
	err = beginAndShow(e, &start, attach.Options{})
	return v.Exit(err, start.Dir)
}

// fleetAgentVerb is the agent of a fleet's loop.
type fleetAgentVerb struct {
	Parallel  int
	From      string
	Conflicts string
	Verify    string
	Flags     []string `arg:"" optional:"" passthrough:""`
}

// Run works through the tasks.
func (v *fleetAgentVerb) Run(e *cli.Env) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	flags := v.Flags
	if len(flags) > 0 && flags[0] == "--" {
		flags = flags[1:]
	}
	return fleet.Agent{Parallel: v.Parallel, Folder: v.From, Conflicts: v.Conflicts, Verify: v.Verify, Flags: flags}.Run(ctx, e)
}
