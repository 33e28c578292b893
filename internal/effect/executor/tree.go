package executor

import (
	"cmp"
	"context"

	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/effect/repo"
)

// keepTree keeps the work tree before an iteration, for 'ralph diff' and 'ralph rollback'. Where
// that cannot be done the iteration begins all the same. unkept is the reason, unless it was
// reported before or there is no repository.
func (x *Executor) keepTree(ctx context.Context, iteration int) (commit, unkept string) {
	if x.cfg.Snapshots < 1 {
		return "", ""
	}
	dir := cmp.Or(x.cfg.WorkDir, x.cfg.Project)
	commit, err := keep.BeforeIteration(ctx, dir, x.cfg.ID, iteration, x.cfg.Snapshots, x.cfg.Env...)
	if err == nil || repo.Absent(err) || ctx.Err() != nil || x.treeless == err.Error() {
		return commit, ""
	}
	x.treeless = err.Error()
	return commit, x.treeless
}
