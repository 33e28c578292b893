//go:build !ralph_core

package main

import (
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/mcp"
)

type mcpVerb struct {
	ReadOnly bool `help:"Offer only what reads: no client starts, steers or stops a loop."`
}

// Help shows examples.
func (mcpVerb) Help() string {
	return "A client starts it: 'claude mcp add ralph -- ralph mcp', 'codex mcp add ralph -- ralph mcp'.\n\n" +
		cli.Examples("ralph mcp", "ralph mcp --read-only")
}

// Run serves the client on stdin until it closes it. The loops do not notice.
func (v *mcpVerb) Run(e *cli.Env) error {
	return mcp.Run(e, mcp.Options{ReadOnly: v.ReadOnly, Sources: elsewhere(e)})
}
