package planning

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/registry"
)

// loop is one that works, or worked, on the stories of this project.
type loop struct {
	registry.Status
	state loopstate.State
}

// loops returns the loops of this project that work on its stories, the oldest first. Loops that
// cannot be read are left out, unless they live: they could work on the plan.
func loops(e *cli.Env) ([]loop, error) {
	all, err := registry.Survey(e.Home, func(s registry.Entry) bool { return s.Project == e.Root() })
	if err != nil {
		return nil, err
	}
	var found []loop
	for _, s := range all {
		state, err := loopstate.Open(s.Dir)
		if err != nil && !s.Live.Alive {
			continue
		}
		if err != nil || state.Rules.Stories {
			found = append(found, loop{s, state})
		}
	}
	slices.SortFunc(found, func(a, b loop) int { return a.Started.Compare(b.Started) })
	return found, nil
}

// checkUnused refuses while a live loop works on the plan. why says what would go wrong.
func checkUnused(e *cli.Env, why string) error {
	all, err := loops(e)
	if err != nil {
		return err
	}
	for _, l := range all {
		if l.Live.Alive {
			return cli.Refuse("'ralph stop "+l.Name+"' ends it after its iteration", "loop %s works on this plan: %s", l.Name, why)
		}
	}
	return nil
}
