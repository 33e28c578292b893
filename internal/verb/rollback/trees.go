package rollback

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/registry"
)

// trees are the kept work trees of a loop.
type trees struct {
	registry.Status
	id    string
	dir   string // where the agent works
	env   []string
	state loopstate.State
	all   []keep.Iteration
}

// find finds the kept work trees of a loop. There is at least one.
func find(ctx context.Context, e *cli.Env, name string) (trees, error) {
	s, err := e.Find(name)
	if err != nil {
		return trees{}, err
	}
	return open(ctx, e, s)
}

func open(ctx context.Context, e *cli.Env, s registry.Status) (trees, error) {
	found, err := launch.InspectLoop(s.Dir)
	if err == nil {
		err = found.Damage
	}
	if err != nil {
		return trees{}, fmt.Errorf("loop %s: %w", s.Name, err)
	}
	t := trees{Status: s, id: found.State.Lifecycle.ID, dir: launch.WorkDirOf(s.Project, found), env: e.Environ, state: found.State}
	t.all, err = keep.Iterations(ctx, t.dir, cmp.Or(t.id, "none"), t.env...)
	switch {
	case errors.Is(err, repo.ErrNoRepository):
		err = cli.Refuse(fmt.Sprintf("'ralph logs %s' shows what its agent did; in a git repository, ralph keeps the files before each iteration", s.Name),
			"loop %s has no snapshot of its work tree: %s is %w", s.Name, cli.Clean(t.dir), repo.ErrNoRepository)
	case err == nil && len(t.all) == 0:
		err = cli.Refuse("a loop in a git repository keeps them before each iteration, unless snapshots.keep is 0",
			"loop %s has no snapshot of its work tree", s.Name)
	}
	return t, err
}

// at returns the work tree before an iteration.
func (t trees) at(n int) (keep.Iteration, error) {
	for _, kept := range t.all {
		if kept.N == n {
			return kept, nil
		}
	}
	return keep.Iteration{}, cli.Refuse("there are those before "+t.list(), "loop %s has no snapshot before iteration %d", t.Name, n)
}

// maxListed is how many iterations an error names at each end.
const maxListed = 4

func (t trees) list() string {
	var words []string
	for i, kept := range t.all {
		switch {
		case i < maxListed || i >= len(t.all)-maxListed:
			words = append(words, strconv.Itoa(kept.N))
		case i == maxListed:
			words = append(words, "…")
		}
	}
	if len(words) == 1 {
		return "iteration " + words[0]
	}
	return "iterations " + strings.Join(words, ", ")
}
