package main

import (
	"errors"
	"iter"
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
	Source    string `arg:"" optional:"" help:"The loop, a copy of its folder, or a segment of its journal, compressed or not and whatever its name; - reads it from stdin. Without it the loop that runs here."`
	Speed     string `placeholder:"N" help:"So many times as fast as it was: 1 is as it was, max is at once. Pauses are at most 2 s, but for 1. On a terminal 10, elsewhere max."`
	From      uint64 `placeholder:"SEQ" help:"Begin with this event."`
	Iteration string `short:"i" placeholder:"N" help:"Only these iterations: 3, 2..4 or 5..."`
	Color     string `enum:"auto,always,never" default:"auto" help:"Use colours: auto (on a terminal), always or never."`
	Verify    bool   `help:"Show nothing: fold the journal, decide again, and report the first decision that is another one today."`
	Verbose   bool   `short:"V" help:"Show prompts, decisions and notices as well."`
	Time      bool   `help:"Show the time of each entry."`
	JSON      bool   `help:"Print the journal's lines as they are."`
}

// Run shows a loop again as it was, from its journal alone.
func (v *replayVerb) Run(e *env) error {
	speed, err := v.pace(e.isTerminal())
	if err != nil {
		return err
	}
	p := play{from: v.From}
	if p.first, p.last, err = span(v.Iteration); err != nil {
		return err
	}
	src, err := e.source(v.Source)
	if err != nil {
		return err
	}
	e.tellDropped(src)
	if v.Verify {
		return decideAgain(e, src, v.JSON)
	}
	p.view = followOptions{json: v.JSON, verbose: v.Verbose, time: v.Time, color: v.Color}.viewer(e, e.stdout)
	if err := p.play(src, speed); err != nil {
		return err
	}
	return p.view.Close()
}

// atOnce is the speed without pauses; watchable is the one for a person who says none.
const (
	atOnce    = 0
	watchable = 10
)

// longestPause is how long replay waits at most, unless it is to take as long as
// the loop itself did.
const longestPause = 2 * time.Second

func (v *replayVerb) pace(terminal bool) (float64, error) {
	switch {
	case v.Speed != "":
		return pace(v.Speed)
	case terminal && !v.JSON:
		return watchable, nil
	}
	return atOnce, nil
}

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

// play shows a part of a journal.
type play struct {
	view        viewer
	from        uint64
	first, last int // iterations
}

func (p *play) play(src source, speed float64) error {
	var before time.Time
	var read uint64
	for ev, err := range p.events(src, &read) {
		if err != nil {
			return errors.Join(p.view.Flush(), readUpTo(err, read))
		}
		if wait := pause(before, ev.At, speed); wait > 0 {
			if err := p.view.Flush(); err != nil {
				return err
			}
			time.Sleep(wait)
		}
		before = ev.At
		if err := p.view.Event(ev); err != nil {
			return err
		}
	}
	return nil
}

// events yields what is to be shown, and says in read which event was the last that could be read. What came before
// it is folded, so that the account at the end is of the whole loop: of a journal whose beginning is gone,
// its first segment tells.
func (p *play) events(src source, read *uint64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		text, _ := p.view.(*render.Text)
		var past projector.State
		var folded bool
		for ev, err := range src.events(journal.ReadOptions{}) {
			early := err == nil && (ev.Seq < p.from || ev.Iter < p.first)
			if err == nil && !folded && text != nil && (early || past.Seq == 0) {
				err = past.Fold(ev)
			}
			if err == nil {
				*read = ev.Seq
				if early || ev.Iter > p.last {
					continue
				}
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
