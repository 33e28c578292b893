package replay

import (
	"bytes"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/cast"
	"github.com/ralph-loop/ralph/render/plain"
	"github.com/ralph-loop/ralph/render/tui"
)

// scene is what a recording shows.
type scene interface {
	render.Viewer
	// frame records what has changed, if anything has.
	frame(w *cast.Writer, at time.Duration, now time.Time)
	// moves reports whether something changes without an event.
	moves() bool
}

// plainScene is the text of a replay.
type plainScene struct {
	*plain.Text
	text *bytes.Buffer
}

func newPlainScene(o render.Options) plainScene {
	s := plainScene{text: &bytes.Buffer{}}
	s.Text = plain.New(s.text, o)
	return s
}

func (s plainScene) moves() bool { return false }

func (s plainScene) frame(w *cast.Writer, at time.Duration, _ time.Time) {
	_ = s.Flush() // a buffer takes everything
	if s.text.Len() > 0 {
		w.Output(at, strings.ReplaceAll(s.text.String(), "\n", "\r\n"))
		s.text.Reset()
	}
}

// filmScene is the full screen of an attached loop.
type filmScene struct {
	film   *tui.Film
	screen *cast.Screen
	rows   int
}

func (s *filmScene) Event(e event.Event) error {
	s.film.Event(e)
	return nil
}

func (s *filmScene) Flush() error { return nil }
func (s *filmScene) Close() error { return nil }
func (s *filmScene) moves() bool  { return true }

func (s *filmScene) frame(w *cast.Writer, at time.Duration, now time.Time) {
	if s.screen == nil {
		s.screen = cast.NewScreen(w, s.rows)
	}
	s.screen.Frame(at, s.film.Frame(now))
}
