package main

import (
	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/send"
)

type withdrawVerb struct {
	send.LoopFlags
	ID string `placeholder:"ID" help:"The message, by the id that 'ralph steer --json' printed; without it your last."`
}

// Help shows examples.
func (withdrawVerb) Help() string { return cli.Examples("ralph withdraw", "ralph withdraw demo") }

// Run takes back a steer or a follow-up that the agent does not have yet.
func (v *withdrawVerb) Run(e *cli.Env) error {
	return v.Flags().Send(e, inbox.Command{Kind: inbox.TakeBack, Key: v.ID})
}
