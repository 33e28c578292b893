//go:build !ralph_core

package main

import (
	"context"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/blaming"
)

type blameVerb struct {
	cli.Placed
	Target     string `arg:"" name:"file" complete:"file" help:"The file, and the lines: FILE, FILE:12 or FILE:12-20."`
	AgentTrace bool   `help:"Print a record of Agent Trace for the lines."`
	JSON       bool   `help:"Print JSON."`
}

// Help shows examples.
func (blameVerb) Help() string {
	return cli.Examples("ralph blame main.go", "ralph blame main.go:12", "ralph blame main.go:12-20 --json")
}

// Run says who wrote the lines of a file.
func (v *blameVerb) Run(e *cli.Env) error {
	return blaming.Blame{Target: v.Target, JSON: v.JSON, AgentTrace: v.AgentTrace, Version: cli.AboutRalph().Version}.Run(context.Background(), e)
}
