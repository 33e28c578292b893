package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

type logsVerb struct {
	placed
	Source    string   `arg:"" optional:"" help:"The loop, a copy of its folder, or a segment of its journal, whatever its name; - reads it from stdin. Without it the loop that runs here."`
	Type      []string `short:"t" placeholder:"TYPE" help:"Only these types, such as loop.ended; tool. stands for all that begin so."`
	Iteration string   `short:"i" placeholder:"N" help:"Only these iterations: 3, 2..4 or 5..."`
	Since     string   `placeholder:"TIME" help:"Not before: 2026-11-21T01:30:00Z, 01:30, or so long ago: 10m."`
	Until     string   `placeholder:"TIME" help:"Not after."`
	Lines     int      `short:"n" placeholder:"N" help:"Only the last so many."`
	Follow    bool     `short:"f" help:"Go on until the loop ends."`
	JSON      bool     `help:"Print the journal's lines as they are."`
}

// Run prints one line for each event.
func (v *logsVerb) Run(e *env) error {
	keep, err := v.filter(e.now())
	if err != nil {
		return err
	}
	src, err := e.source(v.Source)
	if err != nil {
		return err
	}
	var view viewer = render.NewLog(e.stdout, e.look())
	if v.JSON {
		view = &lineWriter{w: e.stdout, tty: e.isTerminal()}
	}
	l := logged{view: view, keep: keep, last: v.Lines}
	e.tellDropped(src)
	if !v.Follow {
		err = l.read(src)
	} else if !src.loop {
		return refuse("leave --follow out", "%s is no loop of this machine", v.Source)
	} else {
		err = l.follow(src)
	}
	if err != nil {
		return err
	}
	return view.Close()
}

// source is where a journal is read from.
type source struct {
	path string
	loop bool      // a loop that may be running
	pipe io.Reader // instead of a path
}

// events reads the journal.
func (s source) events(opt journal.ReadOptions) iter.Seq2[event.Event, error] {
	if s.pipe != nil {
		return journal.ReadStream(s.pipe, "stdin")
	}
	return journal.Read(s.path, opt)
}

// tellDropped says what of a loop is not there any more, so that nobody looks for it.
func (e *env) tellDropped(src source) {
	if info, err := os.Stat(src.path); err != nil || !info.IsDir() {
		return // one segment begins where it begins
	}
	if dropped, err := journal.DroppedFrom(src.path); err == nil && dropped.Through > 0 { // else reading says it
		tell(e.stderr, "%s", removedIterations(dropped))
	}
}

func removedIterations(d journal.Dropped) string {
	what := "iterations 1 to " + strconv.Itoa(d.Through)
	if d.Through == 1 {
		what = "iteration 1"
	}
	if !d.Kept {
		return fmt.Sprintf("%s: the segments are not there; the journal begins with event %d", what, d.First)
	}
	if d.Through == 1 {
		return fmt.Sprintf("%s was removed by journal.keepIterations; the journal begins with event %d", what, d.First)
	}
	return fmt.Sprintf("%s were removed by journal.keepIterations; the journal begins with event %d", what, d.First)
}

// readUpTo adds to the damage of a journal where what could be read ends: everything before it was shown.
func readUpTo(err error, seq uint64) error {
	if _, damaged := errors.AsType[*journal.CorruptError](err); !damaged || seq == 0 {
		return err
	}
	return fmt.Errorf("%w; it can be read up to event %d", err, seq)
}

// source finds what a person names: a loop, else a folder or file.
func (e *env) source(name string) (source, error) {
	if name == "-" {
		return source{pipe: e.stdin}, nil
	}
	path, loop, err := e.located(name)
	return source{path: path, loop: loop}, err
}

// filter says which events are wanted.
type filter struct {
	types       []string
	first, last int // iterations
	from, to    time.Time
}

func (v *logsVerb) filter(now time.Time) (filter, error) {
	f := filter{types: v.Type}
	err := knownTypes(v.Type)
	if err != nil {
		return f, err
	}
	if f.first, f.last, err = span(v.Iteration); err != nil {
		return f, err
	}
	if f.from, err = moment(v.Since, now); err != nil {
		return f, err
	}
	f.to, err = moment(v.Until, now)
	return f, err
}

// knownTypes refuses a type that no event has: an empty answer would read as if nothing of it had happened.
func knownTypes(types []string) error {
	known := event.Types()
	for _, t := range types {
		fits := func(k event.Type) bool {
			return string(k) == t || strings.HasSuffix(t, ".") && strings.HasPrefix(string(k), t)
		}
		if slices.ContainsFunc(known, fits) {
			continue
		}
		var all, groups []string
		for _, k := range known {
			all = append(all, string(k))
			if group, _, dotted := strings.Cut(string(k), "."); dotted && !slices.Contains(groups, group+".") {
				groups = append(groups, group+".")
			}
		}
		hint := "types are " + strings.Join(all, " ") + "; " + groups[0] + " stands for all that begin so"
		if near := config.Nearest(t, slices.Concat(groups, all)); near != "" {
			hint = fmt.Sprintf("did you mean %q? %s", near, hint)
		}
		return refuse(hint, "%q is no type of event", t)
	}
	return nil
}

func (f filter) keeps(e event.Event) bool {
	switch {
	case e.Iter < f.first || e.Iter > f.last,
		!f.from.IsZero() && e.At.Before(f.from),
		!f.to.IsZero() && e.At.After(f.to):
		return false
	}
	for _, t := range f.types {
		if string(e.Type) == t || strings.HasSuffix(t, ".") && strings.HasPrefix(string(e.Type), t) {
			return true
		}
	}
	return len(f.types) == 0
}

// all reports whether nothing is filtered out.
func (f filter) all() bool {
	return len(f.types) == 0 && f.first == 0 && f.last == math.MaxInt && f.from.IsZero() && f.to.IsZero()
}

// span reads 3, 2..4 or 5.., or the same with one hyphen; nothing is all there are.
func span(s string) (first, last int, err error) {
	if s == "" {
		return 0, math.MaxInt, nil
	}
	from, to, ranged := strings.Cut(strings.Replace(s, "..", "-", 1), "-")
	first, err = strconv.Atoi(from)
	switch {
	case !ranged:
		last = first
	case to == "":
		last = math.MaxInt
	case err == nil:
		last, err = strconv.Atoi(to)
	}
	if err != nil || first < 0 || last < first {
		return 0, 0, refuse("write it as 3, 2..4 or 5..", "%q is no range of iterations", s)
	}
	return first, last, nil
}

// moment reads a time as people write it; the zero time for none.
func moment(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(s); err == nil {
		return now.Add(-d.Abs()), nil
	}
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return at, nil
	}
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02"} {
		if at, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return at, nil
		}
	}
	for _, layout := range []string{"15:04:05", "15:04"} {
		at, err := time.ParseInLocation(layout, s, now.Location())
		if err != nil {
			continue
		}
		y, m, d := now.Date()
		at = time.Date(y, m, d, at.Hour(), at.Minute(), at.Second(), 0, now.Location())
		if at.After(now) {
			at = at.AddDate(0, 0, -1) // the last time that the clock showed it
		}
		return at, nil
	}
	return time.Time{}, refuse("write it as 2026-11-21T01:30:00Z, 01:30 or 10m", "%q is no time", s)
}

// logged shows what a filter keeps.
type logged struct {
	view viewer
	keep filter
	last int // 0 for all
	ring []event.Event
	next int
	seq  uint64
}

// take shows an event at once, or keeps it while only the last ones are wanted.
func (l *logged) take(e event.Event) error {
	l.seq = e.Seq
	switch {
	case !l.keep.keeps(e):
		return nil
	case l.last <= 0:
		return l.view.Event(e)
	case len(l.ring) < l.last:
		l.ring = append(l.ring, e.Clone())
	default:
		l.ring[l.next%l.last] = e.Clone()
		l.next++
	}
	return nil
}

// release shows the last ones; what comes later is shown at once.
func (l *logged) release() error {
	for i := range l.ring {
		if err := l.view.Event(l.ring[(l.next+i)%len(l.ring)]); err != nil {
			return err
		}
	}
	l.ring, l.last = nil, 0
	return l.view.Flush()
}

func (l *logged) read(src source) error {
	if l.last > 0 && l.keep.all() && src.loop {
		return l.readLast(src)
	}
	return l.readAll(src)
}

func (l *logged) readAll(src source) error {
	for e, err := range src.events(journal.ReadOptions{FromSeq: l.after()}) {
		if err != nil {
			return errors.Join(l.release(), readUpTo(err, l.seq))
		}
		if err := l.take(e); err != nil {
			return err
		}
	}
	return l.release()
}

// after is the first event to be read: those behind the last one that was, if any.
func (l *logged) after() uint64 {
	if l.seq == 0 {
		return 0
	}
	return l.seq + 1
}

// readLast reads from the end of the journal: that takes no longer for a long one.
func (l *logged) readLast(src source) error {
	events, _, err := journal.Last(src.path, l.last)
	if _, damaged := errors.AsType[*journal.CorruptError](err); damaged {
		return l.readAll(src) // the last before the damage
	}
	if err != nil {
		return err
	}
	l.last = 0
	for _, e := range events {
		if err := l.take(e); err != nil {
			return err
		}
	}
	return nil
}

// follow goes on until the loop has ended or its runner is dead.
func (l *logged) follow(src source) error {
	live, err := registry.Probe(src.path)
	if err != nil {
		return err
	}
	if !live.Alive {
		return l.read(src)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var heard atomic.Bool
	dead := died(ctx, src.path, &heard)
	go func() {
		select {
		case <-dead:
			cancel()
		case <-ctx.Done():
		}
	}()
	var shown error
	opt := journal.FollowOptions{UntilEnded: true, Idle: func(journal.Position) { shown = l.release() }}
	for e, err := range journal.Follow(ctx, src.path, opt) {
		heard.Store(true)
		if err != nil {
			return errors.Join(l.release(), readUpTo(err, l.seq))
		}
		if err := l.take(e); err != nil {
			return err
		}
		if shown != nil {
			return shown
		}
	}
	select {
	case <-dead:
		if err := l.read(src); err != nil {
			return err
		}
	default:
	}
	return shown
}
