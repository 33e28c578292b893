package tui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render/terminal"
	"github.com/ralph-loop/ralph/render/theme"
	"github.com/ralph-loop/ralph/render/transcript"
)

// Film draws the screen of an attached loop without a terminal, for a recording. It reads no clock
// and no file: the frames depend on the events and the moments alone. It belongs to one goroutine.
type Film struct {
	m   *model
	f   *follower
	now time.Time
}

// FilmOptions say what a film shows.
type FilmOptions struct {
	Columns, Rows int
	Colors        theme.Colors
	Verbose       bool
	Location      *time.Location // of times of day; nil is the system's
}

// NewFilm returns a film that has shown no event.
func NewFilm(o FilmOptions) *Film {
	film := &Film{}
	if o.Location == nil {
		o.Location = time.Local
	}
	shown := transcript.Options{Verbose: o.Verbose, Location: o.Location}
	film.f = &follower{loop: &projector.Loop{}, builder: transcript.New(shown), wake: make(chan struct{}, 1)}
	film.m = newModel(context.Background(), Options{Live: true, Verbose: o.Verbose, Now: func() time.Time { return film.now.In(o.Location) }})
	film.update(tea.WindowSizeMsg{Width: o.Columns, Height: o.Rows})
	film.update(terminal.ThemeMsg{Theme: theme.New(true, o.Colors)})
	film.update(openedMsg{page: transcript.Page{Start: true}, follower: film.f})
	return film
}

// update passes a message to the model. Its commands are not run: a film needs none of them.
func (f *Film) update(msg tea.Msg) { _ = f.m.Update(msg) }

// Event takes in the next event.
func (f *Film) Event(e event.Event) {
	f.f.add(e)
	if e.Type == event.TypeLoopEnded {
		f.f.over = true
	}
	if e.Type == event.TypeLoopResumed {
		f.f.over, f.m.over = false, false
	}
}

// Frame returns the lines of the screen at a moment of the recording.
func (f *Film) Frame(now time.Time) []string {
	f.now = now
	if name := f.f.loop.View().Name; name != "" {
		f.m.o.Name = name
	}
	f.update(f.f.take())
	return strings.Split(f.m.View().Content, "\n")
}
