package main

import (
	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
)

type blockedVerb struct{ asking }

// Help shows examples.
func (blockedVerb) Help() string {
	return cli.Examples("ralph blocked 'The API has no such endpoint.'")
}

func (v *blockedVerb) Run(e *cli.Env) error { return v.ask(e, inbox.Blocked) }
