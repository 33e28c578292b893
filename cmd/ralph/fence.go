package main

import (
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/ending"
)

type fenceVerb struct {
	cli.Placed
	Name  string        `arg:"" complete:"loop" help:"The loop."`
	Host  string        `required:"" help:"The host of the pool that has the loop now."`
	Epoch uint64        `required:"" help:"Under which epoch it has it; higher than the one of the loop here."`
	Wait  time.Duration `default:"5s" help:"How long the runner may take to end by itself; then it is killed."`
	JSON  bool          `help:"Print the outcome as JSON."`
}

// Help shows examples.
func (fenceVerb) Help() string { return cli.Examples("ralph fence demo --host kiln --epoch 2") }

// Run ends a loop that another host of a pool has, and keeps it from being resumed here.
func (v *fenceVerb) Run(e *cli.Env) error {
	s, err := e.Find(v.Name)
	if err != nil {
		return err
	}
	return ending.Fence(e, s, v.Host, v.Epoch, v.Wait, v.JSON)
}
