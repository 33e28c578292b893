package executor

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/effect/provenance"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/journal/event"
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

// keepEnd keeps the work tree as it is after the checks, so that 'ralph blame', 'ralph diff' and
// 'ralph review' can tell the work of the iteration from what changes later. What is committed is
// kept too: the files of a commit can differ from those on the disk, as with Git LFS.
func (x *Executor) keepEnd(ctx context.Context, iteration int) (commit string) {
	if x.cfg.Snapshots < 1 {
		return ""
	}
	dir := cmp.Or(x.cfg.WorkDir, x.cfg.Project)
	for root := range x.ends {
		if inside, err := filepath.Rel(root, dir); err == nil && (inside == "." || filepath.IsLocal(inside)) {
			// Without it the answer of 'ralph blame' is unknown, and a review has later changes.
			commit, _ = keep.AfterIteration(ctx, dir, x.cfg.ID, iteration, x.cfg.Env...)
			return commit
		}
	}
	return ""
}

// noteMade adds a note to the commits that the agent made in the iteration, and returns why it
// could not.
func (x *Executor) noteMade(ctx context.Context, iteration int, cause event.Seq) (warning string) {
	for _, root := range slices.Sorted(maps.Keys(x.ends)) {
		if made := x.ends[root].Made; len(made) > 0 {
			warning = cmp.Or(warning, x.note(ctx, root, iteration, cause, made...))
		}
	}
	clear(x.ends)
	return warning
}

// note adds a note to commits that the iteration made, and returns why it could not. cause is the
// decision that led to it.
func (x *Executor) note(ctx context.Context, dir string, iteration int, cause event.Seq, commits ...string) (warning string) {
	if commits[0] == "" { // which commit was made is not known
		return ""
	}
	n := provenance.Note{Loop: x.cfg.ID, Name: filepath.Base(x.cfg.Dir), Iteration: iteration, Seq: cause}
	now, unread := provenance.Current(x.cfg.Dir)
	n.Agent, n.Models, n.USD = now.Agent, now.Models, now.USD
	for _, r := range x.results.last {
		n.Checks = append(n.Checks, provenance.Check{Name: x.masked(r.Guardrail.Command), OK: r.OK})
	}
	if unread == nil {
		n.Journal, unread = provenance.PrefixAt(x.cfg.Dir, cause)
	}
	if err := errors.Join(provenance.Write(ctx, dir, n, commits, x.cfg.Env...), unread); err != nil && ctx.Err() == nil {
		return err.Error()
	}
	return ""
}
