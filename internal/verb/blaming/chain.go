package blaming

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/provenance"
)

// A source is what changed a work tree between two moments.
type source struct {
	by  *provenance.Iteration // nil if no iteration did
	how string                // where by is nil: when it was, for a person
	// unknown says that an iteration or something else did.
	unknown bool
}

// A step is a work tree at a moment, with what changed it since the step before.
type step struct {
	at     time.Time
	tree   provenance.Tree
	source source
	by     *provenance.Iteration // of whom the step is
}

// A chain are the steps of one work tree, in their order, and what may have changed it since.
type chain struct {
	root  string
	steps []step
	now   source
	// before has the place of the step before each iteration, where that is known.
	before map[*provenance.Iteration]int
}

// moment is something that happened in a work tree.
type moment struct {
	at   time.Time
	kind int
	iter *provenance.Iteration
	tree provenance.Tree
}

// The kinds of moments, in the order in which they are at the same time.
const (
	closes = iota // an iteration ends
	opens         // one begins
	seen          // the work tree at that moment
)

// newChain orders what iterations did in one work tree. alive says that a loop runs.
func newChain(root string, all []*provenance.Iteration, alive func(*provenance.Loop) bool) *chain {
	var moments []moment
	for _, i := range all {
		moments = append(moments, moment{i.Began, opens, i, i.Before})
		end := i.Ended
		for _, c := range i.Commits {
			if !c.Agent {
				moments = append(moments, moment{c.At, seen, i, provenance.Tree{Commit: c.SHA, At: c.At, Head: true}})
				end = later(end, c.At)
			}
		}
		if i.After.Commit != "" {
			moments = append(moments, moment{i.After.At, seen, i, i.After})
			end = later(end, i.After.At)
		}
		last := i == i.Loop.Iterations[len(i.Loop.Iterations)-1]
		if i.Ended.IsZero() && last && alive(i.Loop) {
			continue // it runs
		}
		if i.Ended.IsZero() {
			end = later(end, i.Began)
		}
		moments = append(moments, moment{end, closes, i, provenance.Tree{}})
	}
	slices.SortStableFunc(moments, func(a, b moment) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.order(), b.order()))
	})
	t := timeline{chain: chain{root: root, before: map[*provenance.Iteration]int{}}}
	t.sources = []source{{how: "before the first iteration of a loop"}}
	for _, m := range moments {
		t.add(m)
	}
	t.chain.now = joined(t.sources)
	return &t.chain
}

// order puts the work tree that an iteration ends with before its end, also at the same moment.
func (m moment) order() int {
	if m.kind == seen {
		return -1
	}
	return m.kind
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// timeline builds a chain.
type timeline struct {
	chain   chain
	open    []*provenance.Iteration // that run
	sources []source                // what may have changed the work tree since the last step
	known   map[*provenance.Iteration]bool
}

func (t *timeline) add(m moment) {
	switch m.kind {
	case opens:
		if m.tree.Commit != "" {
			t.step(m)
			t.chain.before[m.iter] = len(t.chain.steps) - 1
		}
		t.open = append(t.open, m.iter)
		t.did(t.running())
	case seen:
		t.step(m)
		if t.known == nil {
			t.known = map[*provenance.Iteration]bool{}
		}
		t.known[m.iter] = true
		t.sources = nil
		t.did(t.running())
	case closes:
		t.open = slices.DeleteFunc(t.open, func(i *provenance.Iteration) bool { return i == m.iter })
		if t.known[m.iter] && len(t.sources) == 1 && t.sources[0].by == m.iter {
			t.sources = nil // since the last step it only ended
		}
		t.did(t.running())
		if len(t.open) == 0 {
			t.did(source{how: fmt.Sprintf("after iteration %d of %s", m.iter.N, m.iter.Loop.Name)})
		}
	}
}

// running returns what changes the work tree now; its zero value if no iteration runs.
func (t *timeline) running() source {
	switch len(t.open) {
	case 0:
		return source{}
	case 1:
		return source{by: t.open[0]}
	}
	return source{unknown: true, how: "while two loops worked in the work tree at once"}
}

func (t *timeline) did(s source) {
	if s != (source{}) && !slices.Contains(t.sources, s) {
		t.sources = append(t.sources, s)
	}
}

func (t *timeline) step(m moment) {
	t.chain.steps = append(t.chain.steps, step{m.at, m.tree, joined(t.sources), m.iter})
	t.sources = nil
}

// joined is what is known where one of several sources changed something.
func joined(all []source) source {
	switch {
	case len(all) == 0:
		return source{unknown: true, how: "when it is not known"}
	case len(all) == 1:
		return all[0]
	}
	iterations, people := 0, 0
	var last *provenance.Iteration
	for _, s := range all {
		if s.unknown {
			return s
		}
		if s.by == nil {
			people++
			continue
		}
		iterations++
		last = s.by
	}
	if iterations == 0 {
		return all[0]
	}
	if iterations == 1 && people > 0 {
		return source{unknown: true, how: fmt.Sprintf("in or after iteration %d of %s, whose end is not kept", last.N, last.Loop.Name)}
	}
	return source{unknown: true, how: fmt.Sprintf("in one of %d iterations up to iteration %d of %s, whose work trees are not kept",
		iterations, last.N, last.Loop.Name)}
}
