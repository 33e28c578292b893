package runner

import (
	"context"
	"errors"

	"github.com/ralph-loop/ralph/internal/effect/executor"
	"github.com/ralph-loop/ralph/internal/effect/scratch"
)

// scratchTree opens a throw-away work tree of a commit, in which the guardrails can run: with the
// files that a worktree of a loop gets, and in a sandbox if the guardrails run in one.
func (r *runner) scratchTree(ctx context.Context, commit string) (*executor.ScratchTree, error) {
	env := r.outsideEnvironment()
	tree, err := scratch.Open(ctx, scratch.Config{Dir: r.Tree, Tree: commit, Home: r.Home, Env: env})
	if err != nil {
		return nil, err
	}
	env = append(env, tree.Ceiling())
	t := &executor.ScratchTree{Dir: tree.Project, Logs: tree.Temp, Env: env, Close: tree.Close}
	if r.wrapGuardrail() != nil {
		wrap, closeBox, err := r.heldOutBox(ctx, tree)
		if err != nil {
			return nil, errors.Join(err, tree.Close())
		}
		t.Wrap, t.Close = wrap, func() error { return errors.Join(closeBox(), tree.Close()) }
	}
	err = tree.Prepare(ctx, scratch.Preparation{
		From: r.Project, Copy: r.Settings.Worktree.Copy, Setup: r.Settings.Worktree.Setup, Env: env, Wrap: t.Wrap,
	})
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}
