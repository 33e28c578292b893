package replay

import (
	"errors"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/logs"
	"github.com/ralph-loop/ralph/internal/front/logs/filter"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/plain"
	"github.com/ralph-loop/ralph/render/playback"
)

// Options say which part of a journal is shown again, and how fast.
type Options struct {
	From       event.Seq // the first event
	Iterations string    // as a person writes them
	Speed      float64
}

// ParseSpeed reads a factor such as 10 or 10x, or max.
func ParseSpeed(s string) (float64, error) {
	if s == "max" {
		return playback.NoDelay, nil
	}
	speed, err := strconv.ParseFloat(strings.TrimSuffix(s, "x"), 64)
	if err != nil || !(speed >= 0 && speed <= 1e9) {
		return 0, cli.Refuse("write it as 1, 10 or max", "%q is no speed", s)
	}
	return speed, nil
}

// Run shows a part of a journal.
func Run(src logs.Source, view render.Viewer, o Options) error {
	iterations, err := filter.Iterations(o.Iterations)
	if err != nil {
		return err
	}
	var before time.Time
	for e, err := range replayed(src, view, o.From, iterations) {
		if err != nil {
			return errors.Join(view.Flush(), err)
		}
		if wait := playback.Pause(before, e.At, o.Speed); wait > 0 {
			if err := view.Flush(); err != nil {
				return err
			}
			time.Sleep(wait)
		}
		before = e.At
		if err := view.Event(e); err != nil {
			return err
		}
	}
	return view.Close()
}

// replayed yields the events to be shown. Earlier events are folded, so that the account at the end
// is of the complete loop; if the beginning of the journal is gone, its first segment has their
// account.
func replayed(src logs.Source, view render.Viewer, from event.Seq, iterations filter.Interval) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		text, folding := view.(*plain.Text)
		var past projector.Loop
		for e, err := range src.Events(0) {
			early := err == nil && (e.Seq < from || e.Iter < iterations.First)
			if folding && err == nil && (early || past.Seq() == 0) {
				err = past.Fold(e)
			}
			if film, ok := view.(*filmScene); ok && early {
				film.film.Event(e)
			}
			if err == nil && (early || e.Iter > iterations.Last) {
				continue
			}
			if folding {
				folding = false
				text.Resume(past.View())
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}
