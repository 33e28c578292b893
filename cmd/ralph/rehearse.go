package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/ralph-loop/ralph/internal/agent/rehearsal/player"
	"github.com/ralph-loop/ralph/internal/front/cli"
)

type rehearseVerb struct {
	Scenario string  `arg:"" optional:"" complete:"scenario,file" help:"A built-in scenario, or a file."`
	List     bool    `help:"List the built-in scenarios."`
	Steps    bool    `help:"List the steps that a scenario can have."`
	Speed    float64 `default:"1" help:"Divide every pause of the scenario by this number."`
}

// Help is for authors of scenarios. The verb itself is used as the command of an agent only.
func (rehearseVerb) Help() string {
	return "A loop with --agent 'ralph rehearse FILE' goes through its prompts, guardrails and limits as it would with a real agent. " +
		"--steps says what a scenario can hold.\n\n" + cli.Examples("ralph rehearse --list", "ralph rehearse demo --speed 10")
}

// Run plays a scenario for a loop, or lists what there is.
func (v *rehearseVerb) Run(e *cli.Env) error {
	var page bytes.Buffer
	switch {
	case v.List:
		for _, s := range player.List() {
			fmt.Fprintf(&page, "%-12s %s\n", s.Name, s.About)
		}
	case v.Steps:
		for _, s := range player.Steps() {
			fmt.Fprintf(&page, "%s\n    %s\n", s.Form, s.About)
		}
	case v.Scenario == "":
		return cli.Refuse("'ralph rehearse --list' shows those that are built in", "there is no scenario")
	case e.StdinIsTerminal():
		return cli.Refuse("say ralph run -p 'the task' --agent 'ralph rehearse "+v.Scenario+"'", "a scenario is played for a loop, not for a person")
	}
	if page.Len() > 0 {
		_, err := e.Stdout.Write(page.Bytes())
		return err
	}
	scenario, err := player.Load(e.Cwd, v.Scenario)
	if err != nil {
		return cli.Refuse("'ralph rehearse --list' shows the scenarios that are built in, --steps what one can hold", "%w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return cli.Exit(player.Run(ctx, player.Options{
		Scenario: scenario, Dir: e.Cwd, LoopDir: cmp.Or(e.Variable(cli.LoopDirVariable), e.Cwd),
		In: e.Stdin, Out: e.Stdout, Err: e.Stderr, Speed: v.Speed,
	}))
}
