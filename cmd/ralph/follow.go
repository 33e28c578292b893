package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

// followOptions say how a loop is shown.
type followOptions struct {
	json    bool // the journal's lines
	quiet   bool // nothing of what the agent says and does
	verbose bool
	time    bool
	diffs   bool   // of what tools change
	color   string // "always" or "never", else as stdout suggests
}

// follow shows a loop from its first event until it has ended, or, where ctx is done, to the last that is there then.
func follow(ctx context.Context, dir string, v viewer) error {
	var flushed error
	var seq uint64
	show := func(ev event.Event, err error) error {
		if err == nil {
			seq = ev.Seq
			err = v.Event(ev)
		}
		return errors.Join(err, flushed)
	}
	opt := journal.FollowOptions{UntilEnded: true, Idle: func(journal.Position) { flushed = v.Flush() }}
	for ev, err := range journal.Follow(ctx, dir, opt) {
		if err := show(ev, err); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		for ev, err := range journal.Read(dir, journal.ReadOptions{FromSeq: seq + 1}) {
			if none, ok := errors.AsType[*journal.RangeError](err); ok && none.Last == seq {
				break
			}
			if err := show(ev, err); err != nil {
				return err
			}
		}
	}
	return v.Close()
}

// runnerCheck is how often a silent loop is asked whether its runner lives. Tests
// have less patience.
var runnerCheck = 2 * time.Second

// rareCheck is how many times more seldom that is where the kernel tells the end of the
// runner's process by itself.
const rareCheck = 15

// died returns a channel that is closed when no runner holds the loop's lock. It is
// asked for when the runner's process has ended, and now and then while nothing is
// heard of the loop.
func died(ctx context.Context, dir string, heard *atomic.Bool) <-chan struct{} {
	dead := make(chan struct{})
	runner, _ := registry.Probe(dir)
	over, every := exited(ctx, runner), runnerCheck
	if over != nil {
		every *= rareCheck
	}
	ticks := time.NewTicker(every)
	go func() {
		defer ticks.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-over:
				over = nil // another may have taken the loop over
				ticks.Reset(runnerCheck)
			case <-ticks.C:
				if heard.Swap(false) {
					continue
				}
			}
			if live, err := registry.Probe(dir); err == nil && !live.Alive {
				close(dead)
				return
			}
		}
	}()
	return dead
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// viewer shows events. What it holds back is written on Flush, and all on Close.
type viewer interface {
	Event(event.Event) error
	Flush() error
	Close() error
}

func (o followOptions) viewer(e *env, w io.Writer) viewer {
	if o.json {
		return &lineWriter{w: w, tty: e.isTerminal()}
	}
	opt := e.look()
	opt.Color = o.color == "always" || opt.Color && o.color != "never"
	opt.Quiet, opt.Verbose, opt.Time, opt.Diffs = o.quiet, o.verbose, o.time, o.diffs
	return render.New(w, opt)
}

// look is how text is shown on this stdout: in colour and broken to lines on a
// terminal, as it is elsewhere.
func (e *env) look() render.Options {
	if !e.isTerminal() {
		return render.Options{}
	}
	columns, _ := e.size()
	return render.Options{Width: columns, Color: e.variable("NO_COLOR") == "" && e.variable("TERM") != "dumb"}
}

// drawable reports whether stdout is a terminal on which something can be drawn in its place.
func (e *env) drawable() bool { return e.isTerminal() && e.variable("TERM") != "dumb" }

// isTerminal reports whether stdout is one.
func (e *env) isTerminal() bool { return onTerminal(e.stdout) }

// typed reports whether stdin is a terminal.
func (e *env) typed() bool { return onTerminal(e.stdin) }

// onTerminal reports whether one of the program's streams is a terminal.
func onTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// size returns the columns and rows of the terminal that stdout is; 80 and 24 where
// it does not say.
func (e *env) size() (columns, rows int) {
	if f, ok := e.stdout.(*os.File); ok {
		if columns, rows, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 && rows > 0 {
			return columns, rows
		}
	}
	return 80, 24
}

// variable returns a variable of the environment.
func (e *env) variable(name string) string {
	for i := len(e.environ) - 1; i >= 0; i-- {
		if key, value, _ := strings.Cut(e.environ[i], "="); key == name {
			return value
		}
	}
	return ""
}

// lineWriter prints journal lines, byte for byte. On a terminal, the control
// characters that JSON may hold unescaped (DEL and C1) are escaped: to a terminal
// they are commands.
type lineWriter struct {
	w   io.Writer
	tty bool
	out []byte
}

const lineBatch = 64 << 10

func (l *lineWriter) Event(e event.Event) error {
	if l.tty {
		l.out = appendEscaped(l.out, e.Line())
	} else {
		l.out = append(l.out, e.Line()...)
	}
	l.out = append(l.out, '\n')
	if len(l.out) >= lineBatch {
		return l.Flush()
	}
	return nil
}

func (l *lineWriter) Flush() error {
	if len(l.out) == 0 {
		return nil
	}
	_, err := l.w.Write(l.out)
	l.out = l.out[:0]
	return err
}

func (l *lineWriter) Close() error { return l.Flush() }
