package worker

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/pool/log"
	"github.com/ralph-loop/ralph/pool/queue"
	"github.com/ralph-loop/ralph/pool/spec"
)

// branchOf is the branch on which a loop works that a host begins under an epoch.
func branchOf(loop string, epoch uint64) string { return fmt.Sprintf("ralph/%s/e%d", loop, epoch) }

// base returns the branches that a part of a fleet begins from besides its own: those of the loops
// that it needs, as they were at the remote when the clone was made.
func (w *Worker) base(ctx context.Context, s spec.Spec, clone string) (branches []string, err error) {
	if s.Fleet == "" {
		return nil, nil
	}
	for _, id := range s.Needs {
		held, err := queue.Hold(ctx, w.Store, id)
		if err != nil {
			return nil, err
		}
		needed, err := spec.Decode(held.Record)
		if err == nil {
			err = needed.Verify()
		}
		if err == nil && (needed.Fleet != s.Fleet || needed.Key != s.Key) {
			err = fmt.Errorf("it is no part of fleet %s", s.Fleet)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: it needs loop %s: %w", errGivenUp, id, err)
		}
		newest, err := log.Newest(ctx, w.Store, id)
		if err != nil {
			return nil, err
		}
		branch, err := lastBranch(ctx, clone, needed.Name, newest.Epoch)
		if err != nil {
			return nil, err
		}
		if branch == "" {
			return nil, fmt.Errorf("it begins from the work of %s, and %s has no branch %s: 'git push' it there from the host of that loop",
				needed.Name, s.Repository, branchOf(needed.Name, newest.Epoch))
		}
		branches = append(branches, branch)
	}
	return branches, nil
}

// lastBranch returns the remote's branch of a loop, of the last epoch up to this one: a take-over
// continues on the branch that was there. Any host may have written the epoch, however high.
func lastBranch(ctx context.Context, clone, loop string, epoch uint64) (branch string, err error) {
	begin := "refs/remotes/origin/ralph/" + loop + "/e"
	names, err := git(ctx, clone, "for-each-ref", "--format=%(refname)", begin+"*")
	last := uint64(0)
	for _, name := range strings.Fields(names) {
		n, wrong := strconv.ParseUint(strings.TrimPrefix(name, begin), 10, 64)
		if wrong == nil && n > last && n <= epoch {
			branch, last = "origin/"+branchOf(loop, n), n
		}
	}
	return branch, err
}

// merge merges branches in a new clone. One that conflicts is left to the loop: see unmerged.
func merge(ctx context.Context, clone string, branches []string) error {
	for _, branch := range branches {
		_, err := git(ctx, clone, "merge", "--quiet", "--no-edit", "refs/remotes/"+branch)
		if err == nil {
			continue
		}
		if _, aborted := git(ctx, clone, "merge", "--abort"); aborted != nil { // it was no conflict
			return err
		}
	}
	return nil
}

// unmerged tells the agent of a part to merge what the worker could not: what conflicts has to be
// resolved by who knows what both sides are for.
func (w *Worker) unmerged(ctx context.Context, s spec.Spec, project string) (text string, err error) {
	if s.Fleet == "" || len(s.Needs) == 0 {
		return "", nil
	}
	branches, err := w.base(ctx, s, project)
	if err != nil {
		return "", err
	}
	var commands []string
	for _, branch := range branches {
		_, err := git(ctx, project, "merge-base", "--is-ancestor", "refs/remotes/"+branch, "HEAD")
		if exited, ok := errors.AsType[*exec.ExitError](err); ok && exited.ExitCode() == 1 {
			commands = append(commands, "'git merge "+branch+"'")
		} else if err != nil {
			return "", err
		}
	}
	if len(commands) == 0 {
		return "", nil
	}
	return "\n\nThe work that this task begins from conflicts. Before anything else, run " + strings.Join(commands, ", then ") +
		", resolve the conflicts so that both sides' work is kept, and commit.\n", nil
}
