//go:build !ralph_core

package main

import (
	"time"

	"github.com/ralph-loop/ralph/internal/front/attach"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/logs"
	"github.com/ralph-loop/ralph/internal/front/replay"
	"github.com/ralph-loop/ralph/internal/verb/journaltool"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/playback"
)

type replayVerb struct {
	cli.Placed
	Source    string        `arg:"" optional:"" complete:"loop,file" help:"The loop, a copy of its folder, or a segment of its journal, compressed or not and whatever its name; - reads it from stdin. Without it the loop that runs here."`
	Speed     string        `placeholder:"N" help:"Playback speed: 1 is real time, max is no delay. Pauses are at most 2 s, except at 1. On a terminal 10, for --cast 1, elsewhere max."`
	From      event.Seq     `placeholder:"SEQ" help:"Begin with this event."`
	Iteration string        `short:"i" placeholder:"N" help:"Only these iterations, such as 3, 2..4 or 5.. (5 and later)."`
	Color     string        `enum:"auto,always,never" default:"auto" help:"Use colours: auto (on a terminal), always or never."`
	Verify    bool          `help:"Show nothing: fold the journal, decide again, and report what differs today: a decision, a checkpoint, state.json."`
	Verbose   bool          `short:"V" help:"Show prompts, decisions and notices as well."`
	Time      bool          `help:"Show the time of each entry."`
	Lines     uint16        `placeholder:"N" help:"Lines of tool output to show (with --plain)."`
	Plain     bool          `help:"Print the loop as text, as without a terminal."`
	JSON      bool          `help:"Print the journal's lines as they are."`
	Cast      string        `placeholder:"FILE" help:"Record the screen of attach, or with --plain the text, for the asciinema player, with a marker for each iteration; - is stdout."`
	Size      string        `default:"100x30" placeholder:"CxR" help:"Columns and rows of the terminal that --cast records."`
	Idle      time.Duration `default:"2s" placeholder:"TIME" help:"The longest pause in the recording of --cast; 0 keeps all as they were."`
	Overwrite bool          `help:"Let --cast replace a file."`
}

// Help shows examples.
func (replayVerb) Help() string {
	return cli.Examples(
		"ralph replay demo",
		"ralph replay demo -i 2..4 --speed max --time",
		"ralph replay demo --cast demo.cast --speed 4",
		"ralph replay demo --verify",
	)
}

// Run shows a loop again as it was, from its journal alone.
func (v *replayVerb) Run(e *cli.Env) error {
	speed, err := v.speed(e.IsTerminal())
	if err != nil {
		return err
	}
	o := replay.Options{From: v.From, Iterations: v.Iteration, Speed: speed}
	src, err := logs.Open(e, v.Source)
	if err != nil {
		return err
	}
	switch {
	case v.Verify:
		return journaltool.Redecide(e, src, v.JSON)
	case v.Cast != "":
		view := render.Options{Color: v.Color != "never", Verbose: v.Verbose, Time: v.Time, Diffs: true, Location: time.Local}
		return replay.Cast(e, src, o, replay.CastOptions{
			File: v.Cast, Overwrite: v.Overwrite, Size: v.Size, Idle: v.Idle, View: view, Plain: v.Plain || v.Time,
		})
	}
	if !v.Plain && !v.JSON && !v.Time && v.Lines == 0 && v.Color == "auto" && replay.Plays(e, src) {
		return replay.Play(e, src, o, v.Verbose)
	}
	view := attach.ViewOptions{JSON: v.JSON, Verbose: v.Verbose, Time: v.Time, Lines: int(v.Lines), Color: v.Color}.New(e, e.Stdout)
	return replay.Run(src, view, o)
}

func (v *replayVerb) speed(terminal bool) (float64, error) {
	switch {
	case v.Speed != "":
		return replay.ParseSpeed(v.Speed)
	case v.Cast != "":
		return playback.RealTime, nil
	case terminal && !v.JSON:
		return playback.DefaultSpeed, nil
	}
	return playback.NoDelay, nil
}
