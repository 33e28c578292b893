package main

import (
	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/send"
)

type pauseVerb struct{ send.LoopFlags }

// Help shows examples.
func (pauseVerb) Help() string { return cli.Examples("ralph pause demo") }

func (v *pauseVerb) Run(e *cli.Env) error {
	return v.Flags().Send(e, inbox.Command{Kind: inbox.Pause})
}
