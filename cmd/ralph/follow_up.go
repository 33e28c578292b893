package main

import (
	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/send"
)

type followUpVerb struct {
	send.Flags
	Text []string `arg:"" complete:"loop" help:"The message for the agent; - reads it from stdin. If the first of several words is a loop's name, that loop gets the message; words in quotes count as one."`
}

// Help shows examples.
func (followUpVerb) Help() string {
	return cli.Examples("ralph follow-up 'Then write the changelog.'")
}

func (v *followUpVerb) Run(e *cli.Env) error {
	return v.Tell(e, inbox.FollowUp, v.Text)
}
