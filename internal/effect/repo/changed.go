package repo

import (
	"context"
	"fmt"
)

// Changed returns what 'git status' lists in the working tree around dir: changed, new and unmerged
// files, from the root of the working tree and with slashes. Folders named .ralph are left out, as
// are uncommitted changes in submodules. It calls git three times. Time and environment are as in
// [TakeSnapshot]; without git or a repository the error satisfies [Absent].
func Changed(ctx context.Context, dir string, env ...string) ([]string, error) {
	ctx, cancel := Bounded(ctx, ReadTime)
	defer cancel()
	s, err := In(dir, env...).changed(ctx)
	if err != nil {
		return nil, fmt.Errorf("list uncommitted changes: %w", err)
	}
	paths := make([]string, len(s.entries))
	for i, e := range s.entries {
		paths[i] = e.path
	}
	return paths, nil
}

func (g Git) changed(ctx context.Context) (status, error) {
	at, err := g.Locate(ctx)
	if err != nil {
		return status{}, err
	}
	if g, err = g.In(at.Root).WithoutFilters(ctx); err != nil {
		return status{}, err
	}
	return g.status(ctx)
}
