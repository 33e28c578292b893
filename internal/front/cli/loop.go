package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

// CountOf returns the iterations of a loop by the head of its state.json.
func CountOf(h registry.Summary) units.Count {
	return units.Count{Begun: h.Iteration, Refunded: h.Refunded, Maximum: h.MaximumIterations}
}

// Local spells the moment at the end of what a loop waits for as a person here reads it.
func Local(waiting string, now time.Time) string {
	at := strings.LastIndexByte(waiting, ' ') + 1
	until, err := time.Parse(time.RFC3339, waiting[at:])
	if err != nil {
		return waiting
	}
	return waiting[:at] + Clock(until, now)
}

// Clock formats a time in the zone of now: the time of day, with the date unless that is today.
func Clock(at, now time.Time) string {
	at = at.In(now.Location())
	if y, m, day := now.Date(); at.Year() == y && at.Month() == m && at.Day() == day {
		return at.Format("15:04:05")
	}
	return at.Format("2006-01-02 15:04:05")
}

// WithPending is a loop's status with the pause or stop that is still to come: "running, pausing
// after iteration 9".
func WithPending(status, pending string) string {
	switch {
	case pending == "":
		return status
	case status == event.StatusStopping.String(): // the one word says the other
		return pending
	}
	return status + ", " + pending
}

// Unbegun is the error of a loop without events: it never began, or its journal is gone and only
// the head of state.json is left.
func Unbegun(name string, head registry.Summary) error {
	if head.Status.Ended() {
		return &Failure{
			Err:      fmt.Errorf("loop %s has %s (%s), and its journal is gone", name, head.Status, head.Reason),
			NextStep: fmt.Sprintf("put its files back from a copy, or begin it again with 'ralph start %s'", name),
			Code:     event.ExitFailed,
		}
	}
	return Refuse(fmt.Sprintf("'ralph start %s' begins it", name), "loop %s has not begun", name)
}

// Wrapped breaks a clean line between words if it is wider than the terminal. It does not break a
// longer word, which may be a path to be copied, and without a terminal it breaks nothing.
func Wrapped(line string, room int) []string {
	if room < 0 {
		return []string{line}
	}
	const narrowest = 20 // a narrower column would not be readable
	room = max(room, narrowest)
	var rows []string
	row := ""
	for word := range strings.SplitSeq(line, " ") {
		if row != "" && render.Columns(row)+1+render.Columns(word) > room {
			rows, row = append(rows, row), word
			continue
		}
		if row != "" {
			row += " "
		}
		row += word
	}
	return append(rows, row)
}

// View returns all that is true of a loop that has begun.
func View(s registry.Status) (*projector.View, error) {
	v, err := projector.Read(s)
	if err == nil && v.Rules == nil && !s.Live.Alive {
		err = Unbegun(s.Name, s.Head)
	}
	return v, err
}
