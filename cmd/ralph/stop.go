package main

import (
	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/send"
	"github.com/ralph-loop/ralph/internal/verb/ending"
)

type stopVerb struct {
	send.LoopFlags
	Now bool `help:"Do not wait for the end of the iteration."`
	All bool `short:"A" help:"Stop all loops that run on this machine, after a question."`
	Yes bool `short:"y" help:"With --all: do not ask."`
}

// Help shows examples.
func (stopVerb) Help() string {
	return cli.Examples("ralph stop", "ralph stop demo --now", "ralph stop --all")
}

func (v *stopVerb) Run(e *cli.Env) error {
	kind := inbox.Stop
	if v.Now {
		kind = inbox.StopNow
	}
	if v.All && v.Name != "" {
		return cli.Refuse("give one of them", "%s and --all are both given", v.Name)
	}
	if v.All {
		return ending.StopAll(e, kind, v.Yes, v.JSON)
	}
	s, err := e.Find(v.Name)
	if err != nil {
		return err
	}
	if !s.Live.Alive {
		return ending.StopLeft(e, s, v.Now, v.JSON)
	}
	return v.Flags().SendTo(e, s, inbox.Command{Kind: kind})
}
