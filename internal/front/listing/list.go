package listing

import (
	"cmp"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/send"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// Options say which loops are listed.
type Options struct {
	All     bool // of this machine, not only of this project
	Running bool // only those that have a runner
}

// Find returns the loops in their order, with those of this project that were not registered.
// Entries of the registry that cannot be read are reported on stderr.
func Find(e *cli.Env, o Options) ([]registry.Status, error) {
	e.Adopt()
	all, err := registry.Survey(e.Home, func(entry registry.Entry) bool { return o.All || entry.Project == e.Root() })
	if err != nil {
		return nil, err
	}
	var loops []registry.Status
	for _, s := range all {
		switch {
		case s.Name == "":
			cli.Tell(e.Stderr, "%v", s.Err)
		case !o.Running || s.Live.Alive:
			loops = append(loops, cli.Refreshed(s))
		}
	}
	sortByUrgency(loops)
	return nest(loops), nil
}

// families is an index of a list: which of its loops is within which other one. A list of 10,000
// loops is searched once, not for each of them.
type families struct {
	ids    map[string]bool
	within map[string][]int // by the parent's id: places in the list, in its order
}

func familiesOf(loops []registry.Status) families {
	f := families{map[string]bool{}, map[string][]int{}}
	for i := range loops {
		if p := loops[i].Parent; p != "" && p != loops[i].ID {
			f.within[p] = append(f.within[p], i)
		}
	}
	for i := range loops {
		if len(f.within[loops[i].ID]) > 0 {
			f.ids[loops[i].ID] = true
		}
	}
	return f
}

// has reports whether a loop is within another one of the list.
func (f families) has(s *registry.Status) bool { return s.Parent != s.ID && f.ids[s.Parent] }

// nest puts the loops within another one, such as those of a fleet, right after it.
func nest(loops []registry.Status) []registry.Status {
	f := familiesOf(loops)
	if len(f.ids) == 0 {
		return loops
	}
	nested := make([]registry.Status, 0, len(loops))
	added := make([]bool, len(loops)) // an entry that was edited may name itself as its parent's parent
	var add func(i int)
	add = func(i int) {
		if added[i] {
			return
		}
		added[i] = true
		nested = append(nested, loops[i])
		for _, inner := range f.within[loops[i].ID] {
			add(inner)
		}
	}
	for i := range loops {
		if !f.has(&loops[i]) {
			add(i)
		}
	}
	for i := range loops {
		add(i)
	}
	return nested
}

// sortByUrgency puts loops that need a person first, then those that run, then all others; the
// newest first in each group.
func sortByUrgency(loops []registry.Status) {
	slices.SortStableFunc(loops, func(a, b registry.Status) int {
		return cmp.Or(cmp.Compare(GroupOf(a), GroupOf(b)), started(b).Compare(started(a)))
	})
}

// Prune removes from the registry the entries of loops whose folders are gone, and returns how
// many. They are listed for the last time, unless the registry cannot be written.
func Prune(e *cli.Env, loops []registry.Status) int {
	pruned, err := registry.Prune(e.Home, loops)
	if err != nil {
		return 0
	}
	return len(pruned)
}

// Loop is one loop as JSON: the summary of its state, and its entry in the registry. Its keys do
// not change.
type Loop struct {
	Name string `json:"name"`
	// how it is named from the current folder: its name, PROJECT/NAME or the path of its folder
	Call    string `json:"call"`
	Dir     string `json:"dir"`
	Project string `json:"project"`
	Host    string `json:"host"`
	Alive   bool   `json:"alive"`
	Died    bool   `json:"died"` // its state has not ended, and it has no runner
	Gone    bool   `json:"gone"` // its folder does not exist any more
	// needs you, working or ended
	Group string `json:"group"`
	registry.Summary
	// iterations that are used: begun, and not refunded
	Counted  int       `json:"counted"`
	Refunded int       `json:"refunded"` // iterations
	Started  time.Time `json:"started"`
	Agent    string    `json:"agent"`
	ExitCode *int      `json:"exitCode"` // null if it has not ended
	PID      int       `json:"pid"`      // of the runner; 0 if there is none
	// Left are the pids of processes that outlived the runner of a loop that died: its agent still
	// works.
	Left  []int  `json:"left,omitempty"`
	Error string `json:"error,omitempty"`
}

// JSON returns loops as they are printed as JSON.
func JSON(e *cli.Env, all []registry.Status) []Loop {
	call, strays := e.NamesToType(all), survivors(all)
	loops := make([]Loop, 0, len(all))
	for _, s := range all {
		l := Loop{
			Name: s.Name, Call: call(s), Dir: s.Dir, Project: s.Project, Host: s.Host, Summary: s.Head, Alive: s.Live.Alive, Died: s.Died, Gone: s.Gone, Group: GroupOf(s).String(),
			Counted: cli.CountOf(s.Head).Used(), Refunded: s.Head.Refunded, Started: started(s), Agent: cmp.Or(s.Head.Agent, s.Agent),
		}
		if s.Live.Alive {
			l.PID = s.Live.PID
		}
		if s.Head.Reason != "" {
			code := event.Reason(s.Head.Reason).ExitCode()
			l.ExitCode = &code
		}
		if s.Err != nil {
			l.Error = s.Err.Error()
		}
		for _, stray := range strays[s.File] {
			l.Left = append(l.Left, stray.PID)
		}
		loops = append(loops, l)
	}
	return loops
}

// survivors returns the processes that outlived the runners of loops that died, by the files of the
// loops' entries. If no loop died, it does not look for processes.
func survivors(all []registry.Status) map[string][]process.Stray {
	if !slices.ContainsFunc(all, func(s registry.Status) bool { return s.Died }) {
		return nil
	}
	marked, err := process.Marked()
	if err != nil {
		return nil // the loops are listed anyway
	}
	strays := map[string][]process.Stray{}
	for _, s := range all {
		if s.Died {
			strays[s.File] = send.LeftOf(marked, s)
		}
	}
	return strays
}

func started(s registry.Status) time.Time {
	if s.Head.Since.IsZero() {
		return s.Started
	}
	return s.Head.Since
}
