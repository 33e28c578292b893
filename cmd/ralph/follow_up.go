package main

import (
	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/cli"
	"github.com/ralph-loop/ralph/internal/send"
)

type followUpVerb struct {
	send.Flags
	Text []string `arg:"" help:"What to tell the agent; - reads it from stdin. The name of a loop before other words is the loop to tell; words in quotes are one."`
}

// Help shows examples.
func (followUpVerb) Help() string {
	return cli.Examples("ralph follow-up 'Then write the changelog.'")
}

func (v *followUpVerb) Run(e *cli.Env) error {
	return v.Tell(e, inbox.FollowUp, v.Text)
}
