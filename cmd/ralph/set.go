package main

import (
	"strings"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/send"
)

type setVerb struct {
	send.Flags
	Setting []string `arg:"" complete:"live,loop" placeholder:"KEY=VALUE" help:"Such as maximumIterations=30 or limits.idle=20m, after the name of a loop or alone."`
}

// Help shows examples.
func (setVerb) Help() string {
	return cli.Examples("ralph set limits.cost=40", "ralph set maximumIterations=30")
}

func (v *setVerb) Run(e *cli.Env) error {
	const hint = "write it as in 'ralph set maximumIterations=30', or 'ralph set NAME maximumIterations=30'"
	setting := v.Setting[len(v.Setting)-1]
	switch {
	case len(v.Setting) == 2 && v.Loop == "":
		v.Loop = v.Setting[0]
	case len(v.Setting) > 1:
		return cli.Refuse(hint, "one setting is changed at a time, and there is %q too", v.Setting[1])
	}
	key, value, ok := strings.Cut(setting, "=")
	if !ok || key == "" || value == "" {
		return cli.Refuse(hint, "%q is not KEY=VALUE", setting)
	}
	s, err := e.Find(v.Loop)
	if err != nil {
		return err
	}
	if err := v.SendTo(e, s, inbox.Command{Kind: inbox.Set, Key: key, Value: value}); err != nil || value == "none" {
		return err
	}
	if state, err := loopstate.Open(s.Dir); err == nil {
		if why := state.Lifecycle.Unreported(key); why != "" {
			cli.Tell(e.Stderr, "%s: %s", key, why)
		}
	}
	return nil
}
