//go:build !ralph_core

package main

import (
	"context"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/notifying"
)

type notifyVerb struct {
	cli.Placed
	JSON bool `help:"Print the outcome of each channel as JSON."`
}

// Help shows examples.
func (notifyVerb) Help() string { return cli.Examples("ralph notify", "ralph notify --json") }

// Run sends a test message to each channel of the settings, and reports which took it.
func (v *notifyVerb) Run(e *cli.Env) error { return notifying.Test(context.Background(), e, v.JSON) }
