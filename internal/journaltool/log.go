package journaltool

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/ralph-loop/ralph/internal/attach"
	"github.com/ralph-loop/ralph/internal/cli"
	"github.com/ralph-loop/ralph/internal/send"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

// LogOptions say which events are printed, and how. A filter is as a person writes it.
type LogOptions struct {
	Types        []string
	Iterations   string
	Since, Until string
	Lines        int // only the last so many; 0 for all
	Follow       bool
	JSON         bool
}

// Log prints one line for each event of the journal that a person names.
func Log(e *cli.Env, name string, o LogOptions) error {
	keep, err := o.filter(e.Now())
	if err != nil {
		return err
	}
	src, err := Open(e, name)
	if err != nil {
		return err
	}
	l := log{
		Source: src, view: render.NewLog(e.Stdout, e.RenderOptions()), keep: keep, last: o.Lines,
		all: len(o.Types) == 0 && o.Iterations+o.Since+o.Until == "",
	}
	if o.JSON {
		l.view = attach.NewLineWriter(e.Stdout, e.IsTerminal())
	}
	if !o.Follow {
		return l.read()
	}
	if !src.loop {
		return cli.Refuse("leave --follow out", "%s is no loop of this machine", name)
	}
	return l.follow()
}

// A log is a viewer that shows the events that a filter keeps.
type log struct {
	Source
	view  render.Viewer
	keep  filter
	all   bool          // nothing is filtered out
	last  int           // 0 for all
	tail  []event.Event // the last ones that were read
	seq   event.Seq     // the last event that was read
	heard atomic.Bool   // an event came since the last check
}

// Event shows an event at once, or keeps it while only the last ones are wanted.
func (l *log) Event(e event.Event) error {
	l.seq = e.Seq
	l.heard.Store(true)
	switch {
	case !l.keep.keeps(e):
		return nil
	case l.last <= 0:
		return l.view.Event(e)
	case len(l.tail) == l.last:
		l.tail = l.tail[1:]
	}
	l.tail = append(l.tail, e.Clone())
	return nil
}

// Flush shows the last ones. Later events are shown at once.
func (l *log) Flush() error {
	for _, e := range l.tail {
		if err := l.view.Event(e); err != nil {
			return err
		}
	}
	l.tail, l.last = nil, 0
	return l.view.Flush()
}

func (l *log) Close() error { return errors.Join(l.Flush(), l.view.Close()) }

func (l *log) read() error {
	if l.last > 0 && l.all && l.loop {
		// Reading from the end takes no longer for a long journal. If it is damaged, the last
		// events are those before the damage.
		events, _, err := journal.Last(l.path, l.last)
		if _, damaged := errors.AsType[*journal.CorruptError](err); !damaged {
			l.tail = events
			return errors.Join(err, l.Close())
		}
	}
	for e, err := range l.events(0) {
		if err != nil {
			return errors.Join(l.Flush(), err)
		}
		if err := l.Event(e); err != nil {
			return err
		}
	}
	return l.Close()
}

// follow continues until the loop has ended or its runner is dead.
func (l *log) follow() error {
	live, err := registry.Probe(l.path)
	if err != nil {
		return err
	}
	if !live.Alive {
		return l.read()
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if err := attach.Follow(send.Alive(ctx, l.path, &l.heard), l.path, l); err != nil {
		return errors.Join(l.Flush(), readableUpTo(err, l.seq))
	}
	return nil
}
