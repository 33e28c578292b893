package render

import (
	"io"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/phrase"
)

// Steps writes one line for each step of a loop, with how long it took, beside a viewer that shows
// the loop. Like the viewer it needs the events alone; it ignores types of events that it does not
// know.
type Steps struct {
	Viewer
	to    io.Writer
	shown *edge // what the viewer writes to; nil if that is not where the steps go
	steps phrase.Steps
	lines []byte
}

// NewSteps returns a Steps that writes to to, beside the viewer that view makes for out. shared
// says that both writers are the same terminal.
func NewSteps(out, to io.Writer, shared bool, view func(io.Writer) Viewer) *Steps {
	shown := &edge{Writer: out}
	v := &Steps{Viewer: view(shown), to: to}
	if shared {
		v.shown = shown
	}
	return v
}

// Event shows an event in the viewer, then writes the steps that it completes.
func (v *Steps) Event(e event.Event) error {
	if err := v.Viewer.Event(e); err != nil {
		return err
	}
	v.lines = v.lines[:0]
	for _, line := range v.steps.Of(e) {
		v.lines = append(append(append(v.lines, "[ralph] "...), Clean(line)...), '\n')
	}
	if len(v.lines) == 0 {
		return nil
	}
	// The viewer's text comes first.
	if err := v.Flush(); err != nil {
		return err
	}
	if v.shown != nil && v.shown.midline {
		if _, err := v.shown.Write([]byte("\n")); err != nil {
			return err
		}
	}
	_, err := v.to.Write(v.lines)
	return err
}

// edge is a writer that knows whether it is in the middle of a line.
type edge struct {
	io.Writer
	midline bool
}

func (w *edge) Write(p []byte) (int, error) {
	if len(p) > 0 {
		w.midline = p[len(p)-1] != '\n'
	}
	return w.Writer.Write(p)
}
