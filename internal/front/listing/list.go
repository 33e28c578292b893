package listing

import (
	"cmp"
	"slices"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/send"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render/reading"
)

// Options say which loops are listed.
type Options struct {
	All     bool // of this machine, not only of this project
	Running bool // only those that have a runner
}

// Find returns the loops in their order, with those of this project that were not registered.
// Entries of the registry that cannot be read are reported on stderr, and loops that cannot be
// registered; those are an error if no other loop is found.
func Find(e *cli.Env, o Options) ([]*projector.View, error) {
	unregistered := e.Adopt()
	all, err := registry.Survey(e.Home, func(entry registry.Entry) bool { return o.All || entry.Project == e.Root() })
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s registry.Status) bool {
		if s.Name == "" {
			cli.Tell(e.Stderr, "%v", s.Err)
		}
		return s.Name == "" || o.Running && !s.Live.Alive
	})
	switch {
	case unregistered != nil && len(all) == 0:
		return nil, unregistered
	case unregistered != nil:
		cli.Tell(e.Stderr, "%v", unregistered)
	}
	call, loops := e.NamesToType(all), make([]*projector.View, 0, len(all))
	for _, s := range all {
		v := projector.Brief(s)
		v.Call = call(s)
		loops = append(loops, v)
	}
	addLeft(loops)
	reading.AddReviewed(e.Home, loops...)
	sortByUrgency(loops)
	return nest(loops), nil
}

// families is an index of a list: which of its loops is within which other one. A list of 10,000
// loops is searched once, not for each of them.
type families struct {
	ids    map[string]bool
	within map[string][]*projector.View // by the parent's id, in the order of the list
}

func familiesOf(loops []*projector.View) families {
	f := families{map[string]bool{}, map[string][]*projector.View{}}
	for _, v := range loops {
		if v.Parent != "" && v.Parent != v.ID {
			f.within[v.Parent] = append(f.within[v.Parent], v)
		}
	}
	for _, v := range loops {
		if len(f.within[v.ID]) > 0 {
			f.ids[v.ID] = true
		}
	}
	return f
}

// has reports whether a loop is within another one of the list.
func (f families) has(v *projector.View) bool { return v.Parent != v.ID && f.ids[v.Parent] }

// nest puts the loops within another one, such as those of a fleet, right after it.
func nest(loops []*projector.View) []*projector.View {
	f := familiesOf(loops)
	if len(f.ids) == 0 {
		return loops
	}
	nested := make([]*projector.View, 0, len(loops))
	added := map[*projector.View]bool{} // an entry that was edited may name itself as its parent's parent
	var add func(v *projector.View)
	add = func(v *projector.View) {
		if added[v] {
			return
		}
		added[v] = true
		nested = append(nested, v)
		for _, inner := range f.within[v.ID] {
			add(inner)
		}
	}
	for _, v := range loops {
		if !f.has(v) {
			add(v)
		}
	}
	for _, v := range loops {
		add(v)
	}
	return nested
}

// sortByUrgency puts loops that need a person first, then those that run, then all others; the
// newest first in each group.
func sortByUrgency(loops []*projector.View) {
	slices.SortStableFunc(loops, func(a, b *projector.View) int {
		return cmp.Or(a.Group.Compare(b.Group), b.Started.Compare(a.Started))
	})
}

// Prune removes from the registry the entries of loops whose folders are gone, and returns how
// many. They are listed for the last time, unless the registry cannot be written.
func Prune(e *cli.Env, loops []*projector.View) int {
	var gone []registry.Status
	for _, v := range loops {
		if v.Gone {
			gone = append(gone, v.Found)
		}
	}
	pruned, err := registry.Prune(e.Home, gone)
	if err != nil {
		return 0
	}
	return len(pruned)
}

// addLeft adds the processes that outlived the runners of loops that died. If no loop died, it does
// not look for processes.
func addLeft(loops []*projector.View) {
	if !slices.ContainsFunc(loops, func(v *projector.View) bool { return v.Died }) {
		return
	}
	marked, err := process.Marked()
	if err != nil {
		return // the loops are listed anyway
	}
	for _, v := range loops {
		if v.Died {
			for _, stray := range send.LeftOf(marked, v.Found) {
				v.Left = append(v.Left, stray.PID)
			}
		}
	}
}
