// Package filter chooses events of a journal as a person names them: by type, tool, iteration and
// time.
package filter

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Options say which events are wanted, as a person writes it. What is empty wants all.
type Options struct {
	Types        []string // such as loop.ended; tool. means all that begin with it
	Tool         string   // calls of this tool, and what they returned
	Iterations   string   // 3, 2..4 or 5..
	Since, Until string
}

// All reports whether all events are wanted.
func (o Options) All() bool { return len(o.Types) == 0 && o.Tool+o.Iterations+o.Since+o.Until == "" }

// A Filter says of each event of a journal, in their order, whether it is wanted.
type Filter struct {
	types      []string
	Iterations Interval
	inside     bool                // the last event of an iteration was in one of them
	From, To   time.Time           // the zero time where there is no bound
	tool       string              // only calls of this tool, and what they returned
	calls      map[string]struct{} // the open calls of it
}

// New returns the filter of options, which are read at a moment: 10m is ten minutes before it.
func New(o Options, now time.Time) (f Filter, err error) {
	f.types, f.tool = o.Types, o.Tool
	if err := checkTypes(o.Types); err != nil {
		return f, err
	}
	if f.Iterations, err = Iterations(o.Iterations); err != nil {
		return f, err
	}
	if f.From, err = parseTime(o.Since, now); err != nil {
		return f, err
	}
	f.To, err = parseTime(o.Until, now)
	return f, err
}

// Keeps reports whether the next event is wanted.
func (f *Filter) Keeps(e event.Event) bool {
	if f.tool != "" && !f.ofTool(e) {
		return false
	}
	if e.Iter > 0 {
		f.inside = f.Iterations.Contains(e.Iter)
	}
	return f.contains(e) &&
		(f.From.IsZero() || !e.At.Before(f.From)) && (f.To.IsZero() || !e.At.After(f.To)) &&
		(len(f.types) == 0 || slices.ContainsFunc(f.types, func(t string) bool { return matches(t, e.Type) }))
}

// contains reports whether an event is of the iterations. What belongs to no iteration, such as
// loop.resumed, is of those around it.
func (f *Filter) contains(e event.Event) bool {
	return f.Iterations.Contains(e.Iter) || e.Iter == 0 && f.inside
}

// ofTool reports whether an event is about a call of the tool. What a call prints and returns names
// only the call.
func (f *Filter) ofTool(e event.Event) bool {
	switch e.Type {
	case event.TypeToolCalled:
		if !strings.EqualFold(jsonscan.Unquote(e.Field("name")), f.tool) {
			return false
		}
		if f.calls == nil {
			f.calls = map[string]struct{}{}
		}
		f.calls[jsonscan.Unquote(e.Field("id"))] = struct{}{}
		return true
	case event.TypeToolProgressed, event.TypeToolReturned:
		id := jsonscan.Unquote(e.Field("id"))
		_, ok := f.calls[id]
		if e.Type == event.TypeToolReturned {
			delete(f.calls, id)
		}
		return ok
	}
	return false
}

// matches reports whether a type is the one that is named, or of the group, such as "tool.".
func matches(name string, t event.Type) bool {
	return string(t) == name || strings.HasSuffix(name, ".") && strings.HasPrefix(string(t), name)
}

// checkTypes refuses an unknown type of event: an empty answer would mean that no such event
// happened.
func checkTypes(types []string) error {
	for _, name := range types {
		if slices.ContainsFunc(event.Types(), func(t event.Type) bool { return matches(name, t) }) {
			continue
		}
		var all, groups []string
		for _, t := range event.Types() {
			all = append(all, string(t))
			if group, _, dotted := strings.Cut(string(t), "."); dotted && !slices.Contains(groups, group+".") {
				groups = append(groups, group+".")
			}
		}
		hint := fmt.Sprintf("such as loop.ended, iteration.ended, agent.said, tool.called, guardrail.ended; %s means all that begin with it; docs/reference/events.md has all", groups[0])
		if near := config.Nearest(name, slices.Concat(groups, all)); near != "" {
			hint = fmt.Sprintf("did you mean %q? %s", near, hint)
		}
		return cli.Refuse(hint, "%q is no type of event", name)
	}
	return nil
}

// An Interval of iterations contains its ends.
type Interval struct{ First, Last int }

// Contains reports whether an iteration is in it.
func (i Interval) Contains(n int) bool { return i.First <= n && n <= i.Last }

// Over reports whether nothing of it follows a segment of iteration n. A resume may continue with
// the iteration before it; what belongs to none, such as loop.resumed, may come anywhere.
func (i Interval) Over(n int) bool { return i.First > 0 && n-1 > i.Last }

// Iterations reads 3, 2..4 or 5.., or the same with one hyphen; an empty text means all.
func Iterations(s string) (Interval, error) {
	if s == "" {
		return Interval{0, math.MaxInt}, nil
	}
	from, to, ranged := strings.Cut(strings.Replace(s, "..", "-", 1), "-")
	first, err := strconv.Atoi(from)
	last := first
	switch {
	case ranged && to == "":
		last = math.MaxInt
	case ranged && err == nil:
		last, err = strconv.Atoi(to)
	}
	if err != nil || first < 0 || last < first {
		return Interval{}, cli.Refuse("write it as 3, 2..4 or 5..", "%q is no range of iterations", s)
	}
	return Interval{first, last}, nil
}

// parseTime reads a time as people write it; the zero time for none.
func parseTime(s string, now time.Time) (time.Time, error) {
	at, ok := units.ParseTime(s, now)
	if !ok && s != "" {
		return at, cli.Refuse("write it as 2026-11-21T01:30:00Z, 01:30, 10m, today or yesterday", "%q is no time", s)
	}
	return at, nil
}
