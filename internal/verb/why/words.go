package why

import (
	"cmp"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/phrase"
)

// textMost is how many characters an event has in an answer.
const textMost = 300

// note describes an event.
func (t *trace) note(e event.Event) Note {
	return Note{Seq: e.Seq, At: e.At, Iteration: e.Iter, Type: e.Type, Text: units.Cut(words(e), textMost), Rule: t.made[e.Seq].rule}
}

// words is the phrase of an event in one line. An event of a newer ralph, or one that cannot be
// read, is shown as 'ralph logs' shows it: its type and its data.
func words(e event.Event) string {
	p, err := event.Decode(e)
	if err != nil || p == nil {
		return strings.TrimSpace(render.Clean(string(e.Type)) + " " + render.Fields(e))
	}
	return render.Clean(cmp.Or(phrase.Of(p, phrase.Known{}).Line(), string(e.Type)))
}

func until(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return " until " + at.Format(time.RFC3339)
}
