//go:build !ralph_core

package main

import (
	"context"
	"strconv"

	"github.com/ralph-loop/ralph/internal/front/acpserver"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/remote"
)

type acpVerb struct {
	Name                string            `name:"loop" short:"l" placeholder:"NAME" help:"The name of new loops; where it is taken, a number follows. Without it the git branch's, or the folder's where that is main or master."`
	Agent               string            `short:"a" complete:"agent" placeholder:"AGENT" help:"The agent of new loops: a name in the settings, or a command; without it, that of the settings."`
	Protocol            string            `placeholder:"NAME" help:"How the agent speaks: pi, claude, codex, amp, acp, text or rehearsal; inferred from its name."`
	Model               string            `placeholder:"NAME" help:"The model, in the agent's own spelling."`
	MaximumIterations   *int              `short:"m" placeholder:"N" help:"Stop each new loop after this many iterations."`
	Set                 map[string]string `complete:"setting" placeholder:"KEY=VALUE" mapsep:"none" help:"Any other setting of new loops, such as limits.cost=5; --limits.cost 5 is the same."`
	AllowSharedWorktree bool              `help:"Let new loops start where another loop works in the same work tree."`
	Trust               bool              `help:"Trust the settings of every project that the client opens, whatever they run."`
}

// Help shows examples.
func (acpVerb) Help() string {
	return cli.Examples(
		"ralph acp",
		"ralph acp --agent claude --limits.cost 10 -m 20",
	)
}

// Run serves the client at stdin and stdout until it leaves. The loops do not notice.
func (v *acpVerb) Run(e *cli.Env) error {
	start, err := e.Starter()
	if err != nil {
		return err
	}
	start.Name, start.Agent, start.Model, start.Set = v.Name, v.Agent, v.Model, v.Set
	if v.Protocol != "" {
		start.Flags = append(start.Flags, "--protocol="+v.Protocol)
	}
	if v.MaximumIterations != nil {
		start.Flags = append(start.Flags, "--maximum-iterations="+strconv.Itoa(*v.MaximumIterations))
	}
	if v.AllowSharedWorktree {
		start.Flags = append(start.Flags, "--allow-shared-worktree")
	}
	if v.Trust {
		start.Flags = append(start.Flags, acpserver.Trust)
	}
	if e.StdinIsTerminal() {
		cli.Tell(e.Stderr, "an editor starts this: stdin takes messages of the Agent Client Protocol; ctrl-d ends it")
	}
	server := acpserver.New(e, start, e.Stdout)
	server.Distant = remote.NewWatch(e, elsewhere(e))
	return server.Serve(context.Background(), e.Stdin)
}
