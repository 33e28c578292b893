package main

import (
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
	Speed    float64 `default:"1" help:"Divide every pause of the scenario by this."`
}

// Run plays a scenario for a loop, or lists those that there are.
func (v *rehearseVerb) Run(e *env) error {
	if v.List {
		for _, s := range player.List() {
			fmt.Fprintf(e.stdout, "%-12s %s\n", s.Name, s.About)
		}
		return nil
	}
	if v.Scenario == "" {
		return refuse("'ralph rehearse --list' shows those that are built in", "there is no scenario")
	}
	scenario, err := player.Load(v.Scenario)
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
