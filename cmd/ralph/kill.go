package main

import (
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/ending"
)

type killVerb struct {
	cli.Placed
	Name string        `arg:"" optional:"" complete:"loop" help:"The loop; without it the one that runs here."`
	Wait time.Duration `default:"5s" help:"How long its runner may take to end by itself; then it is killed."`
	JSON bool          `help:"Print the outcome as JSON."`
}

// Help shows examples.
func (killVerb) Help() string {
	return cli.Examples("ralph kill demo", "ralph kill demo --wait 1s")
}

// Run ends a loop and its agent at once.
func (v *killVerb) Run(e *cli.Env) error {
	s, err := e.Find(v.Name)
	if err != nil {
		return err
	}
	return ending.EndLoop(e, s, v.Wait, v.JSON)
}
