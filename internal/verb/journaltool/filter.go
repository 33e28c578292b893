package journaltool

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

// A filter says which events are wanted.
type filter struct {
	types      []string
	iterations interval
	inside     bool // the last event of an iteration was in one of them
	from, to   time.Time
	tool       string              // only calls of this tool, and what they returned
	calls      map[string]struct{} // the open calls of it
}

func (o LogOptions) filter(now time.Time) (f filter, err error) {
	f.types, f.tool = o.Types, o.Tool
	if err := checkTypes(o.Types); err != nil {
		return f, err
	}
	if f.iterations, err = parseIterations(o.Iterations); err != nil {
		return f, err
	}
	if f.from, err = parseTime(o.Since, now); err != nil {
		return f, err
	}
	f.to, err = parseTime(o.Until, now)
	return f, err
}

// Keeps returns a function that says of each event, in their order, whether the options want it.
// Grep, Context and Lines are left to others.
func (o LogOptions) Keeps(now time.Time) (func(event.Event) bool, error) {
	f, err := o.filter(now)
	return f.keeps, err
}

func (f *filter) keeps(e event.Event) bool {
	if f.tool != "" && !f.ofTool(e) {
		return false
	}
	if e.Iter > 0 {
		f.inside = f.iterations.contains(e.Iter)
	}
	return f.contains(e) &&
		(f.from.IsZero() || !e.At.Before(f.from)) && (f.to.IsZero() || !e.At.After(f.to)) &&
		(len(f.types) == 0 || slices.ContainsFunc(f.types, func(t string) bool { return matches(t, e.Type) }))
}

// contains reports whether an event is of the iterations. What belongs to no iteration, such as
// loop.resumed, is of those around it.
func (f *filter) contains(e event.Event) bool {
	return f.iterations.contains(e.Iter) || e.Iter == 0 && f.inside
}

// ofTool reports whether an event is about a call of the tool. What a call prints and returns names
// only the call.
func (f *filter) ofTool(e event.Event) bool {
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

// An interval of iterations contains its ends.
type interval struct{ first, last int }

func (i interval) contains(n int) bool { return i.first <= n && n <= i.last }

// parseIterations reads 3, 2..4 or 5.., or the same with one hyphen; an empty text means all.
func parseIterations(s string) (interval, error) {
	if s == "" {
		return interval{0, math.MaxInt}, nil
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
		return interval{}, cli.Refuse("write it as 3, 2..4 or 5..", "%q is no range of iterations", s)
	}
	return interval{first, last}, nil
}

// parseTime reads a time as people write it; the zero time for none.
func parseTime(s string, now time.Time) (time.Time, error) {
	at, ok := units.ParseTime(s, now)
	if !ok && s != "" {
		return at, cli.Refuse("write it as 2026-11-21T01:30:00Z, 01:30, 10m, today or yesterday", "%q is no time", s)
	}
	return at, nil
}
