package replay

// This file records a replay as a file that terminal players play.

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/logs"
	"github.com/ralph-loop/ralph/internal/front/logs/filter"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/cast"
	"github.com/ralph-loop/ralph/render/playback"
	"github.com/ralph-loop/ralph/render/theme"
	"github.com/ralph-loop/ralph/render/tui"
)

// CastOptions say how a replay is recorded.
type CastOptions struct {
	File      string        // - is stdout
	Overwrite bool          // a file that is there
	Size      string        // columns and rows: 100x30
	Idle      time.Duration // the longest pause; 0 bounds none
	View      render.Options
	Plain     bool // the text, not the full screen
}

// frameTime is the shortest time between two frames of a recording.
const frameTime = 40 * time.Millisecond

// castMost bounds a recording, which is made in memory. No player loads a larger one.
const castMost = 256 << 20

// Cast records a part of a journal as an asciicast, with a marker for each iteration. What can be
// read of a damaged journal is recorded, too.
func Cast(e *cli.Env, src logs.Source, o Options, c CastOptions) error {
	columns, rows, err := parseSize(c.Size)
	if err != nil {
		return err
	}
	if o.Speed == playback.NoDelay {
		return cli.Refuse("leave --speed out for real time, or give a number", "a recording without any delay shows nothing but its end")
	}
	if err := c.free(e); err != nil {
		return err
	}
	c.View.Width = columns
	colors := theme.ColorsOf([]string{"TERM=xterm-256color"})
	if !c.View.Color {
		colors = theme.ColorsOf([]string{"NO_COLOR=1", "TERM=xterm-256color"})
	}
	r := &recorder{Options: o, idle: c.Idle, columns: columns, rows: rows}
	if r.scene = newPlainScene(c.View); !c.Plain {
		r.scene = &filmScene{rows: rows, film: tui.NewFilm(tui.FilmOptions{
			Columns: columns, Rows: rows, Colors: colors, Verbose: c.View.Verbose, Location: c.View.Location,
		})}
	}
	if src.Loop {
		r.title = "ralph: " + render.Clean(filepath.Base(src.Path))
	}
	recorded := r.record(src)
	if r.w == nil {
		return errors.Join(recorded, noEvents(recorded))
	}
	if c.File == "-" {
		_, err = e.Stdout.Write(r.out.Bytes())
		return errors.Join(recorded, err)
	}
	if err := c.free(e); err != nil {
		return err
	}
	if err := safefile.WriteFile(e.Abs(c.File), r.out.Bytes(), 0o644); err != nil {
		return errors.Join(recorded, fmt.Errorf("write the recording: %w", err))
	}
	cli.Tell(e.Stderr, "%s has %s of %s; 'asciinema play %s' plays it", c.File, units.Span(r.at), units.Quantity(r.begun, "iteration"), c.File)
	return recorded
}

func noEvents(err error) error {
	if err != nil {
		return nil
	}
	return cli.Refuse("leave --from and --iteration out", "there is nothing to record: no event is in that part of the journal")
}

// free returns an error if there is a file that must not be overwritten.
func (c CastOptions) free(e *cli.Env) error {
	if c.File == "-" || c.Overwrite {
		return nil
	}
	if _, err := os.Lstat(e.Abs(c.File)); !errors.Is(err, fs.ErrNotExist) {
		return cli.Refuse("name another file, or add --overwrite", "%s is there already", c.File)
	}
	return nil
}

func parseSize(text string) (columns, rows int, err error) {
	c, r, _ := strings.Cut(text, "x")
	columns, err1 := strconv.Atoi(c)
	rows, err2 := strconv.Atoi(r)
	if err1 != nil || err2 != nil || columns < render.Narrowest || columns > 1000 || rows < 5 || rows > 1000 {
		return 0, 0, cli.Refuse("write it as columns and rows, such as 100x30", "%q is no size of a terminal", text)
	}
	return columns, rows, nil
}

// recorder plays a journal without waiting, and writes down when it would have waited.
type recorder struct {
	Options
	idle          time.Duration
	columns, rows int
	scene         scene
	title         string

	out    bytes.Buffer
	w      *cast.Writer // nil before the first event
	at     time.Duration
	now    time.Time     // of the event shown last
	framed time.Duration // the moment of the last frame
	begun  int           // iterations
	code   int
}

func (r *recorder) record(src logs.Source) error {
	spans, err := filter.Iterations(r.Iterations)
	if err != nil {
		return err
	}
	var view render.Viewer = r.scene
	if plain, ok := view.(plainScene); ok {
		view = plain.Text // whose totals replayed sets
	}
	for e, err := range replayed(src, view, r.From, spans) {
		if err == nil && r.out.Len() > castMost {
			err = cli.Refuse("record fewer iterations: --iteration 2..4", "the recording has more than %s", units.Bytes(castMost))
		}
		if err != nil {
			return errors.Join(err, r.finish())
		}
		r.advance(e)
		if err := r.scene.Event(e); err != nil {
			return err
		}
		r.note(e)
	}
	return r.finish()
}

// advance goes to the moment of an event, before it is shown.
func (r *recorder) advance(e event.Event) {
	if r.w == nil {
		r.w = cast.NewWriter(&r.out, cast.Header{Columns: r.columns, Rows: r.rows, At: e.At, Command: "ralph attach", Title: r.title})
	}
	wait := max(playback.Pause(r.now, e.At, r.Speed), 0)
	if r.idle > 0 {
		wait = min(wait, r.idle)
	}
	if r.at+wait-r.framed >= frameTime {
		r.frame()
	}
	if r.scene.moves() {
		r.tick(wait, e.At)
	}
	r.at += wait
	r.now = e.At
}

// tick records a frame for each second of a pause, in which the durations on the screen change.
func (r *recorder) tick(wait time.Duration, until time.Time) {
	for past := time.Second; past < wait; past += time.Second {
		part := float64(past) / float64(wait)
		r.scene.frame(r.w, r.at+past, r.now.Add(time.Duration(part*float64(until.Sub(r.now)))))
	}
}

// note notes what an event that was shown means for the recording. A marker comes after the border
// of its iteration, so that a player that goes there shows it.
func (r *recorder) note(e event.Event) {
	switch e.Type {
	case event.TypeIterationStarted:
		r.frame()
		r.begun++
		r.w.Marker(r.at, fmt.Sprintf("iteration %d", e.Iter))
	case event.TypeLoopStarted, event.TypeLoopResumed:
		r.code = event.ExitCompleted
	case event.TypeLoopEnded:
		if ended, err := event.As[event.LoopEnded](e); err == nil {
			r.code = ended.Reason.ExitCode()
		}
	}
}

// frame records what the scene has shown since the last one.
func (r *recorder) frame() {
	r.scene.frame(r.w, r.at, r.now)
	r.framed = r.at
}

func (r *recorder) finish() error {
	if r.w == nil {
		return nil
	}
	_ = r.scene.Close() // a buffer takes everything
	r.frame()
	r.w.Exit(r.at, r.code)
	return r.w.Close()
}
