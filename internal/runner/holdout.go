package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/holdout"
	"github.com/ralph-loop/ralph/internal/effect/sandbox"
	"github.com/ralph-loop/ralph/internal/effect/scratch"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/journal/event"
)

// Held-out guardrails. They are read when the loop begins and when it is resumed, and are in
// nothing that the runner writes, passes on or prints but the requirement of one that failed.

// readHeldOut reads those of the project.
func (r *runner) readHeldOut() (err error) {
	r.heldOut, err = holdout.All(r.Home, r.Project)
	return err
}

// holdOut runs them on the work as it is.
func (r *runner) holdOut(ctx context.Context, iteration int, ended func(event.HoldoutEnded)) event.HoldoutChecked {
	checked := holdout.Run(ctx, holdout.Config{
		Home: r.Home, Project: r.Project, Dir: r.Tree, Loop: r.Name, Iteration: iteration, Guardrails: r.heldOut,
		Timeout: r.Settings.Limits.Iteration.Std(), Env: r.outsideEnvironment(), Worktree: r.Settings.Worktree, Box: r.heldOutBox, Ended: ended,
	})
	// The other guardrails run the agent's code outside of a machine of docker-sandbox.
	checked.ByConvention = checked.ByConvention || r.wrapGuardrail() == nil
	return checked
}

// outsideEnvironment is that of guardrails, without what leads back to the loop. The mark stays: a
// later runner finds by it what this one leaves if it dies.
func (r *runner) outsideEnvironment() []string {
	drop := []string{"TASK_FOLDER"}
	for _, entry := range r.Env {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "RALPH_") {
			drop = append(drop, name)
		}
	}
	return process.Environment(r.Env, drop, []string{process.MarkVariable + "=" + process.OwnMark(r.Home, r.id)})
}

// heldOutBox opens the sandbox of the held-out guardrails, where the agents have one: what they run
// is the agent's code, which may write only in the throw-away tree.
func (r *runner) heldOutBox(ctx context.Context, tree *scratch.Tree) (process.Wrap, func() error, error) {
	if r.sandbox == nil {
		return nil, nil, nil
	}
	mode := r.sandbox.Mode
	if mode == sandbox.DockerSandbox { // whose machine has the folders of the agent, and no others
		if mode, _ = Strongest(ctx, r.Home, true); mode == sandbox.None {
			return nil, nil, nil
		}
	}
	p, err := r.sandboxPolicy(ctx, mode)
	if err == nil && mode.Contained() { // it has no other folder
		err = tree.Own(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	p.Dir, p.Tree, p.Temp, p.Name = tree.Project, tree.Root, tree.Temp, p.Name+"-held-out"
	p.Write, p.Protect, p.Ralph, p.States, p.Git = []string{tree.Root}, nil, nil, nil, sandbox.Repository{}
	p.Show, p.Secret = append(p.Show, tree.Root, tree.Temp), true
	box, err := sandbox.OpenBox(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	end := func() error { return errors.Join(box.Sweep(context.WithoutCancel(ctx)), box.Close()) }
	if err := box.Sweep(ctx); err != nil { // what a dead runner left
		return nil, nil, errors.Join(err, end())
	}
	return box.Wrap, end, nil
}

// wrapGuardrail runs a guardrail in the sandbox of the agents, if there are held-out ones: it runs
// the agent's code, which could read them from outside.
func (r *runner) wrapGuardrail() process.Wrap {
	if r.sandbox == nil || len(r.heldOut) == 0 || r.sandbox.Mode == sandbox.DockerSandbox {
		return nil
	}
	box := r.sandbox.Probe()
	box.Dir = r.Tree
	return box.Wrap
}

// guardrailBox opens the sandbox of guardrails that are tried in a throw-away tree, if there are
// held-out ones: it hides these, as it does from the agents.
func (r *runner) guardrailBox(ctx context.Context, tree *scratch.Tree) (process.Wrap, func() error, error) {
	if len(r.heldOut) == 0 {
		return nil, nil, nil
	}
	return r.heldOutBox(ctx, tree)
}

// hideHeldOut hides the held-out guardrails and throw-away work trees, whatever else is shown. They
// are parts of ralph, too, so that a folder in which the agent may write has them empty.
func (r *runner) hideHeldOut(p *sandbox.Policy) error {
	if len(r.heldOut) == 0 {
		return nil
	}
	for _, name := range []string{holdout.Folder, scratch.Folder} {
		path := filepath.Join(r.Home, name)
		if err := os.MkdirAll(path, 0o700); err != nil { // a name that is missing is not hidden
			return err
		}
		real, err := filepath.EvalSymlinks(path) // a person may have it on another disk
		if err != nil {
			return err
		}
		p.Hide, p.Ralph = append(p.Hide, real), append(p.Ralph, real)
		p.Show = slices.DeleteFunc(p.Show, func(shown string) bool {
			return slices.ContainsFunc([]string{path, real}, func(hidden string) bool {
				return shown == hidden || strings.HasPrefix(shown, hidden+string(filepath.Separator))
			})
		})
	}
	return nil
}
