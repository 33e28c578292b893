package main

import (
	"github.com/ralph-loop/ralph/internal/attach"
	"github.com/ralph-loop/ralph/internal/cli"
	"github.com/ralph-loop/ralph/internal/journaltool"
	"github.com/ralph-loop/ralph/journal/event"
)

type replayVerb struct {
	cli.Placed
	Source    string    `arg:"" optional:"" help:"The loop, a copy of its folder, or a segment of its journal, compressed or not and whatever its name; - reads it from stdin. Without it the loop that runs here."`
	Speed     string    `placeholder:"N" help:"Playback speed: 1 is real time, max is no delay. Pauses are at most 2 s, except at 1. On a terminal 10, elsewhere max."`
	From      event.Seq `placeholder:"SEQ" help:"Begin with this event."`
	Iteration string    `short:"i" placeholder:"N" help:"Only these iterations: 3, 2..4 or 5..."`
	Color     string    `enum:"auto,always,never" default:"auto" help:"Use colours: auto (on a terminal), always or never."`
	Verify    bool      `help:"Show nothing: fold the journal, decide again, and report the first decision that differs today."`
	Verbose   bool      `short:"V" help:"Show prompts, decisions and notices as well."`
	Time      bool      `help:"Show the time of each entry."`
	JSON      bool      `help:"Print the journal's lines as they are."`
}

// Help shows examples.
func (replayVerb) Help() string {
	return cli.Examples(
		"ralph replay demo",
		"ralph replay demo -i 2..4 --speed max --time",
		"ralph replay demo --verify",
	)
}

// Run shows a loop again as it was, from its journal alone.
func (v *replayVerb) Run(e *cli.Env) error {
	speed, err := v.speed(e.IsTerminal())
	if err != nil {
		return err
	}
	o := journaltool.ReplayOptions{From: v.From, Iterations: v.Iteration, Speed: speed}
	src, err := journaltool.Open(e, v.Source)
	if err != nil {
		return err
	}
	if v.Verify {
		return journaltool.Redecide(e, src, v.JSON)
	}
	view := attach.ViewOptions{JSON: v.JSON, Verbose: v.Verbose, Time: v.Time, Color: v.Color}.New(e, e.Stdout)
	return journaltool.Replay(src, view, o)
}

func (v *replayVerb) speed(terminal bool) (float64, error) {
	switch {
	case v.Speed != "":
		return journaltool.ParseSpeed(v.Speed)
	case terminal && !v.JSON:
		return journaltool.DefaultSpeed, nil
	}
	return journaltool.NoDelay, nil
}
