package statuspage

import (
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/registry"
)

// Open returns the state of a loop that has begun, or has a runner.
func Open(s registry.Status) (loopstate.State, error) {
	state, err := loopstate.Open(s.Dir)
	if err == nil && !state.Begun() && !s.Live.Alive {
		err = cli.Unbegun(s.Name, s.Head)
	}
	return state, err
}
