package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render"
)

type replayVerb struct {
	placed
	Source  string `arg:"" optional:"" help:"The loop, a copy of its folder, or one segment of its journal, compressed or not; without it the loop that runs here."`
	Speed   string `default:"max" placeholder:"N" help:"So many times as fast as it was: 1 is as it was, max is at once. Pauses are at most 2 s, but for 1."`
	From    uint64 `placeholder:"SEQ" help:"Begin with this event."`
	Verbose bool   `short:"V" help:"Show prompts, decisions and notices as well."`
	Time    bool   `help:"Show the time of each entry."`
	JSON    bool   `help:"Print the journal's lines as they are."`
}

// Run shows a loop again as it was, from its journal alone.
func (v *replayVerb) Run(e *env) error {
	speed, err := pace(v.Speed)
	if err != nil {
		return err
	}
	src, err := e.source(v.Source)
	if err != nil {
		return err
	}
	view := followOptions{json: v.JSON, verbose: v.Verbose, time: v.Time}.viewer(e, e.stdout)
	if err := v.play(src.path, view, speed); err != nil {
		return err
	}
	return view.Close()
}

// atOnce is the speed without pauses.
const atOnce = 0

// longestPause is how long replay waits at most, unless it is to take as long as
// the loop itself did.
const longestPause = 2 * time.Second

func pace(s string) (float64, error) {
	if s == "max" {
		return atOnce, nil
	}
	speed, err := strconv.ParseFloat(strings.TrimSuffix(s, "x"), 64)
	if err != nil || !(speed >= 0 && speed <= 1e9) {
		return 0, refuse("write it as 1, 10 or max", "%q is no speed", s)
	}
	return speed, nil
}

func (v *replayVerb) play(src string, view viewer, speed float64) error {
	var before time.Time
	for ev, err := range v.events(src, view) {
		if err != nil {
			return err
		}
		if wait := pause(before, ev.At, speed); wait > 0 {
			if err := view.Flush(); err != nil {
				return err
			}
			time.Sleep(wait)
		}
		before = ev.At
		if err := view.Event(ev); err != nil {
			return err
		}
	}
	return nil
}

// events yields what is to be shown. What came before it is folded, so that the
// account at the end is of the whole loop: of a journal whose beginning is gone,
// its first segment tells.
func (v *replayVerb) events(src string, view viewer) func(func(event.Event, error) bool) {
	return func(yield func(event.Event, error) bool) {
		text, _ := view.(*render.Text)
		var past projector.State
		var folded bool
		for ev, err := range journal.Read(src, journal.ReadOptions{}) {
			if err == nil && !folded && text != nil && (ev.Seq < v.From || past.Seq == 0) {
				err = past.Fold(ev)
			}
			if err == nil && ev.Seq < v.From {
				continue
			}
			if text != nil && !folded {
				folded = true
				text.Resume(&past)
			}
			if !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

// pause is how long to wait between two events.
func pause(before, at time.Time, speed float64) time.Duration {
	if speed == atOnce || before.IsZero() {
		return 0
	}
	wait := time.Duration(float64(at.Sub(before)) / speed)
	if speed != 1 {
		wait = min(wait, longestPause)
	}
	return wait
}
