package main

import (
	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
)

type waitVerb struct{ asking }

// Help shows examples.
func (waitVerb) Help() string {
	return cli.Examples("ralph wait 'Log in to the registry, then resume me.'")
}

func (v *waitVerb) Run(e *cli.Env) error { return v.ask(e, inbox.Wait) }
