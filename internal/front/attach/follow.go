package attach

import (
	"bufio"
	"context"
	"errors"
	"io"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/plain"
)

// ViewOptions say how a loop is shown.
type ViewOptions struct {
	JSON    bool // the journal's lines
	Quiet   bool // nothing of what the agent says and does
	Verbose bool
	Time    bool
	Lines   int    // of what a tool prints, at most; 0 is the usual number
	diffs   bool   // of what tools change
	Color   string // "always" or "never"; otherwise it depends on stdout
}

// Follow shows a loop from an event on, 0 for its first one, until it has ended or, if ctx is
// canceled, to the last event that exists then.
func Follow(ctx context.Context, dir string, from event.Seq, v render.Viewer) error {
	seq := max(from, 1) - 1
	show := func(e event.Event) error {
		seq = e.Seq
		return v.Event(e)
	}
	err := showLive(ctx, dir, journal.FollowOptions{FromSeq: from}, show, v.Flush)
	if err == nil && ctx.Err() != nil {
		err = showRest(dir, seq, show)
	}
	if err != nil {
		return err
	}
	return v.Close()
}

// showLive shows events as they come, until the loop ends or ctx is canceled. It calls flush when
// no event waits.
func showLive(ctx context.Context, dir string, opt journal.FollowOptions, show func(event.Event) error, flush func() error) error {
	var flushed error
	opt.UntilEnded, opt.Idle = true, func(journal.Position) { flushed = flush() }
	for e, err := range journal.Follow(ctx, dir, opt) {
		if err == nil {
			err = show(e)
		}
		if err = errors.Join(err, flushed); err != nil {
			return err
		}
	}
	return flushed
}

// showRest shows the events after seq that exist now.
func showRest(dir string, seq event.Seq, show func(event.Event) error) error {
	for e, err := range client.Rest(dir, seq) {
		if err == nil {
			err = show(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// New returns a viewer that writes to w.
func (o ViewOptions) New(e *cli.Env, w io.Writer) render.Viewer {
	if o.JSON {
		return NewLineWriter(w, e.IsTerminal())
	}
	opt := e.RenderOptions()
	opt.Color = o.Color == "always" || opt.Color && o.Color != "never"
	opt.Quiet, opt.Verbose, opt.Time, opt.Diffs, opt.Lines = o.Quiet, o.Verbose, o.Time, o.diffs, o.Lines
	return plain.New(w, opt)
}

// lineWriter prints journal lines, byte for byte. On a terminal, the control characters that JSON
// may hold unescaped (DEL and C1) are escaped: to a terminal they are commands.
type lineWriter struct {
	*bufio.Writer
	terminal bool
}

// NewLineWriter returns a viewer that prints the journal's lines.
func NewLineWriter(w io.Writer, terminal bool) render.Viewer {
	return lineWriter{bufio.NewWriterSize(w, 64<<10), terminal}
}

func (l lineWriter) Event(e event.Event) error {
	line := e.Line()
	if l.terminal {
		line = cli.AppendEscaped(nil, line)
	}
	_, _ = l.Write(line) // its error is that of the next write, too
	return l.WriteByte('\n')
}

func (l lineWriter) Close() error { return l.Flush() }
