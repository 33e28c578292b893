package main

import (
	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/send"
)

type resumeVerb struct{ send.LoopFlags }

// Help shows examples.
func (resumeVerb) Help() string { return cli.Examples("ralph resume demo") }

func (v *resumeVerb) Run(e *cli.Env) error {
	return v.Flags().Send(e, inbox.Command{Kind: inbox.Resume})
}
