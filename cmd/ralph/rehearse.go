package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/ralph-loop/ralph/internal/agent/rehearsal/player"
)

type rehearseVerb struct {
	Scenario string  `arg:"" optional:"" help:"A scenario that ralph has built in, or a file."`
	List     bool    `help:"List the scenarios that are built in."`
	Steps    bool    `help:"List what a scenario can hold."`
	Speed    float64 `default:"1" help:"Divide every pause of the scenario by this."`
}

// Help is for whoever writes a scenario; nobody types this verb but in agent.command.
func (rehearseVerb) Help() string {
	return "A loop with --agent 'ralph rehearse FILE' goes through its prompts, guardrails and limits as it would with a real agent. " +
		"--steps says what a scenario can hold."
}

// Run plays a scenario for a loop, or lists what there is.
func (v *rehearseVerb) Run(e *env) error {
	switch {
	case v.List:
		var page bytes.Buffer
		for _, s := range player.List() {
			fmt.Fprintf(&page, "%-12s %s\n", s.Name, s.About)
		}
		_, err := e.stdout.Write(page.Bytes())
		return err
	case v.Steps:
		var page bytes.Buffer
		for _, s := range player.Steps() {
			fmt.Fprintf(&page, "%s\n    %s\n", s.Form, s.About)
		}
		_, err := e.stdout.Write(page.Bytes())
		return err
	case v.Scenario == "":
		return refuse("'ralph rehearse --list' shows those that are built in", "there is no scenario")
	case e.typed():
		return refuse("say ralph run -p 'the task' --agent 'ralph rehearse "+v.Scenario+"'", "a scenario is played for a loop, not for a person")
	}
	scenario, err := player.Load(e.cwd, v.Scenario)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	loopDir := os.Getenv("RALPH_LOOP_DIR")
	if loopDir == "" {
		loopDir = filepath.Clean(e.cwd)
	}
	return exit(player.Run(ctx, player.Options{
		Scenario: scenario, Dir: e.cwd, LoopDir: loopDir,
		In: e.stdin, Out: e.stdout, Err: e.stderr, Speed: v.Speed,
	}))
}
