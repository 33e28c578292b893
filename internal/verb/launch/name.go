package launch

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/oklog/ulid/v2"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/registry"
)

// DefaultName is the name of a loop that is started without one: the slug of the git branch. If
// there is no branch, or it is named as in every project, it is the slug of the project's folder.
func DefaultName(e *cli.Env) string {
	switch branch := repo.Branch(context.Background(), e.Cwd); branch {
	case "", "main", "master":
		return registration.SlugName(filepath.Base(e.Root()))
	default:
		return registration.SlugName(branch)
	}
}

// isNewID reports whether a new loop may have this id.
func isNewID(id string, resume bool) bool {
	_, err := ulid.ParseStrict(id)
	return err == nil && !resume
}

// checkFree refuses the id of another loop: what is kept of that one has its name, and the loops
// that it started are known by it.
func checkFree(e *cli.Env, id string) error {
	ctx := context.Background()
	known, err := registry.Survey(e.Home, func(entry registry.Entry) bool { return entry.ID == id })
	if err != nil {
		return err
	}
	kept, _ := keep.Iterations(ctx, e.Root(), id, e.Environ...) // without a repository there is none
	refs, _ := keep.Refs(ctx, e.Root(), id, e.Environ...)
	if slices.ContainsFunc(known, func(s registry.Status) bool { return s.ID == id }) || len(kept)+len(refs) > 0 {
		return cli.Refuse("leave --id out", "another loop has the id %s", id)
	}
	return nil
}

// maxNumbered is how many names a start with a number after its name tries.
const maxNumbered = 100

// beginNumbered starts a loop under the first name of the project that is free: NAME, NAME-2 and so
// on.
func (v *Start) beginNumbered(e *cli.Env) (readiness, error) {
	if v.Resume || v.Fresh {
		return readiness{}, cli.Refuse("leave it out", "--numbered is for a new loop")
	}
	base := v.Name
	if base == "" {
		base = DefaultName(e)
	}
	given := *v
	if given.Prompt != "" { // stdin is read once
		text, err := promptText(e, given.Prompt)
		if err != nil {
			return readiness{}, err
		}
		given.Prompt = text
	}
	for n := 1; ; n++ {
		*v = given
		if v.Name = base; n > 1 {
			v.Name = fmt.Sprintf("%.*s-%d", registry.MaxName-4, base, n)
		}
		dir, err := e.LoopDir(v.Name)
		if err != nil {
			return readiness{}, err
		}
		if cli.Exists(dir) && n < maxNumbered {
			continue
		}
		started, err := v.begin(e)
		if err != nil && n < maxNumbered && v.ID != "" && isOther(dir, v.ID) {
			continue // another start was faster
		}
		return started, err
	}
}

// isOther reports whether another loop than that of an id has begun in a folder.
func isOther(dir, id string) bool {
	state, err := loopstate.Open(dir)
	return err == nil && state.Begun() && state.Lifecycle.ID != id
}
