package logs

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/internal/front/attach"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/logs/filter"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

// Options say which events are printed, and how.
type Options struct {
	filter.Options
	All    bool // of all loops of this machine
	Lines  int  // only the last so many of a loop; 0 for all
	From   event.Seq
	Follow bool
	JSON   bool

	Grep    string // only events whose texts match; empty for all
	Regexp  bool   // Grep is a regular expression
	Case    string // CaseSmart, CaseIgnore or CaseMatch
	Context int    // how many events around a match
}

// Print prints one line for each event of the journal that a person names, or of all. If nothing
// matches Grep, the error is an exit code of 1 without a message, as from other programs that
// search.
func Print(e *cli.Env, name string, o Options) error {
	p, err := newPrinting(e, name, o)
	if err != nil {
		return err
	}
	if o.All {
		return p.everywhere(name)
	}
	src, err := Open(e, name)
	if err != nil {
		return err
	}
	l := p.log(src, "")
	switch {
	case !o.Follow:
		err = l.read()
		p.progress.clear()
	case !src.Loop:
		return cli.Refuse("leave --follow out", "%s is no loop of this machine", name)
	default:
		err = l.follow()
	}
	return cmp.Or(err, p.outcome(l.matches()))
}

// A Feed calls show with the events of a loop of another machine, and flush when none waits.
type Feed func(show func(event.Event) error, flush func() error) error

// Follow is Print for a loop that is followed on another machine: first its past, if only the last
// lines of it are wanted, then what comes.
func Follow(e *cli.Env, name string, o Options, past, news Feed) error {
	p, err := newPrinting(e, name, o)
	if err != nil {
		return err
	}
	l := p.log(Source{Loop: true}, "")
	if o.Lines > 0 {
		if err := past(l.Event, func() error { return nil }); err != nil {
			return errors.Join(l.Flush(), err)
		}
		if err := l.Flush(); err != nil {
			return err
		}
	}
	if err := news(l.Event, l.Flush); err != nil {
		return errors.Join(l.Flush(), err)
	}
	return cmp.Or(l.Close(), p.outcome(l.matches()))
}

// printing is what all loops of one command line share.
type printing struct {
	Options
	env     *cli.Env
	keep    filter.Filter
	pattern *pattern // nil if nothing is searched for

	progress *progress
}

func newPrinting(e *cli.Env, name string, o Options) (*printing, error) {
	p := &printing{Options: o, env: e, progress: newProgress(e, name)}
	var err error
	if p.keep, err = filter.New(o.Options, e.Now()); err != nil {
		return nil, err
	}
	switch {
	case o.Grep != "":
		p.pattern, err = newPattern(o.Grep, o.Regexp, o.Case)
	case o.Context > 0 || o.Regexp:
		err = cli.Refuse("say what to search for: --grep TEXT", "--context and --regexp belong to --grep")
	}
	return p, err
}

// log prints the events of one source. label is the name of the loop where there are several.
func (p *printing) log(src Source, label string) *log {
	l := &log{Source: src, keep: p.keep, last: p.Lines, from: p.From, all: p.Options.Options.All() && p.Grep == "", progress: p.progress}
	opt := p.env.RenderOptions()
	lines := render.NewLog(p.progress, opt)
	lines.Label(render.Clean(label))
	l.view = lines
	if p.JSON {
		l.view = attach.NewLineWriter(p.progress, p.env.IsTerminal())
		if label != "" {
			l.view = &namedLines{w: p.progress, name: label, terminal: p.env.IsTerminal()}
		}
	}
	if p.pattern == nil {
		return l
	}
	l.finder = &finder{pattern: p.pattern, texts: newTexts(src.Path), lines: lines, color: opt.Color, around: p.Context,
		last: p.Lines, prompt: p.env.IsTerminal(), ofJournal: slices.ContainsFunc(p.Types, func(t string) bool { return strings.HasPrefix(t, "segment.") })}
	if p.JSON {
		l.finder.lines, l.finder.json, l.finder.around = nil, l.view, 0
	}
	l.view, l.last = l.finder, 0
	return l
}

// outcome is the exit code of a search that found so many events.
func (p *printing) outcome(found int) error {
	if p.pattern == nil || found > 0 {
		return nil
	}
	if p.env.IsTerminal() {
		cli.Tell(p.env.Stderr, "no event matches %q", p.Grep)
	}
	return cli.Exit(nothingFound)
}

const nothingFound = 1

// A log is a viewer that shows the events that a filter keeps.
type log struct {
	Source
	view  render.Viewer
	keep  filter.Filter
	all   bool          // nothing is filtered out
	last  int           // 0 for all
	tail  []event.Event // the last ones that were read
	from  event.Seq     // the first event that is read
	seq   event.Seq     // the last event that was read
	heard atomic.Bool   // an event came since the last check

	finder   *finder // the view, where something is searched for
	progress *progress
}

// matches is how many events were found.
func (l *log) matches() int {
	if l.finder == nil {
		return 0
	}
	return l.finder.found
}

// Event shows an event at once, or keeps it while only the last ones are wanted.
func (l *log) Event(e event.Event) error {
	l.seq = e.Seq
	l.heard.Store(true)
	switch {
	case !l.keep.Keeps(e):
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
	if l.last > 0 && l.all && l.Loop && l.from == 0 {
		// Reading from the end takes no longer for a long journal. If it is damaged, the last
		// events are those before the damage.
		events, _, err := journal.Last(l.Path, l.last)
		if _, damaged := errors.AsType[*journal.CorruptError](err); !damaged {
			l.tail = events
			return errors.Join(err, l.Close())
		}
	}
	from := journal.ReadOptions{FromSeq: l.from}
	if l.from == 0 {
		from.FromIteration = l.keep.Iterations.First
	}
	for e, err := range l.events(from) {
		if err == nil && e.Type == event.TypeSegmentOpened && l.keep.Iterations.Over(e.Iter) {
			break
		}
		if none, ok := errors.AsType[*journal.RangeError](err); ok && l.from > 0 && none.Last == l.from-1 {
			break
		}
		if err != nil {
			return errors.Join(l.Flush(), err)
		}
		l.progress.event()
		if err := l.Event(e); err != nil {
			return err
		}
	}
	return l.Close()
}

// follow continues until the loop has ended or its runner is dead.
func (l *log) follow() error {
	live, err := registry.Probe(l.Path)
	if err != nil {
		return err
	}
	if !live.Alive {
		return l.read()
	}
	from := l.from
	if l.last > 0 && l.all && from == 0 {
		if l.tail, _, err = journal.Last(l.Path, l.last); err != nil {
			return errors.Join(err, l.Flush())
		}
		if n := len(l.tail); n > 0 {
			from = l.tail[n-1].Seq + 1
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if err := attach.Follow(client.Alive(ctx, l.Path, &l.heard), l.Path, from, l); err != nil {
		return errors.Join(l.Flush(), ReadableUpTo(err, l.seq))
	}
	return nil
}
