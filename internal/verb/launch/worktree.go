package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/effect/workspace"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/internal/runner"
)

// findWorktree finds the worktree of a resumed loop. One that is gone is an error: nothing would be
// there of what the loop did, and the person's own work tree is not for it.
func (p *Plan) findWorktree(e *cli.Env) error {
	w, err := workspace.Read(p.Dir)
	switch {
	case err != nil:
		return err
	case w == nil && p.Worktree != nil:
		return cli.Refuse("leave --worktree out, or begin a loop of another name",
			"loop %s works in %s, and a resumed loop stays where it is", p.Name, e.Short(e.Root()))
	case w == nil:
		return nil
	case p.Worktree != nil && *p.Worktree != "" && *p.Worktree != w.Branch:
		return cli.Refuse("leave --worktree out, or begin a loop of another name", "loop %s works on the branch %s", p.Name, w.Branch)
	}
	if missing, ok := errors.AsType[*workspace.MissingError](w.Check()); ok {
		return cli.RefuseHinted(missing)
	}
	p.worktree = w
	return nil
}

// tree returns the project's folder in which the loop works.
func (p *Plan) tree(e *cli.Env) string {
	if p.worktree != nil {
		return p.worktree.Project()
	}
	return e.Root()
}

// BranchOf is the branch of a worktree for which none is named.
func BranchOf(loop string) string { return "ralph/" + loop }

// makeWorktree makes the worktree of a new loop, with what the settings want in it. If that fails,
// it removes it again.
func (p *Plan) makeWorktree(e *cli.Env) error {
	// A signal undoes what was made.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	wanted := workspace.Plan{Home: e.Home, Project: e.Root(), LoopDir: p.Dir, Branch: *p.Worktree, Env: e.Environ}
	if wanted.Branch == "" {
		wanted.Branch = p.stories.branch(e)
	}
	if wanted.Branch == "" {
		wanted.Branch, wanted.Free = BranchOf(p.Name), true
	}
	return WithLock(p.Dir, func() error {
		if err := workspace.CheckStarter(p.Dir); err != nil {
			return err
		}
		w, err := workspace.Make(ctx, wanted)
		switch {
		case repo.Absent(err), errors.Is(err, repo.ErrNoCommits):
			return cli.Refuse("a worktree is of a repository with a commit: begin with 'git init' and a first commit, or leave --worktree out",
				"make the worktree of loop %s: %w", p.Name, err)
		case errors.Is(err, repo.ErrBranchName):
			return cli.Refuse("choose another name", "make the worktree of loop %s: %w", p.Name, err)
		case err != nil:
			return err
		}
		p.worktree = w
		cli.Tell(e.Stderr, "worktree %s, branch %s", e.Short(w.Path), w.Branch)
		if p.stories != nil {
			err = copyPlan(e.Root(), w.Project())
		}
		if err == nil {
			err = FillWorktree(ctx, e, p.Name, p.Dir, w, p.loaded.Settings.Worktree)
		}
		if err == nil {
			tellUncommitted(ctx, e, w)
			err = w.Done(p.Dir)
		}
		if err != nil {
			p.worktree = nil
			err = errors.Join(err, w.Undo(context.WithoutCancel(ctx), e.Root(), p.Dir, e.Environ...))
		}
		return err
	})
}

// tellUncommitted says what a person may miss in a worktree. What was copied is changed there, too.
func tellUncommitted(ctx context.Context, e *cli.Env, w *workspace.Worktree) {
	names, err := repo.Changed(ctx, e.Root(), e.Environ...)
	copied, failed := repo.Changed(ctx, w.Path, e.Environ...)
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(copied, name) })
	if err == nil && failed == nil && len(names) > 0 {
		cli.Tell(e.Stderr, "not committed, and so not in the worktree: %s", cli.Clean(units.Cut(strings.Join(names, ", "), maxNames)))
	}
}

// maxShown is how many names a message has, and maxNames how many characters they have in one line.
const maxShown, maxNames = 10, 500

// FillWorktree copies what a loop needs into its worktree, and runs worktree.setup.
func FillWorktree(ctx context.Context, e *cli.Env, name, dir string, w *workspace.Worktree, settings config.Worktree) error {
	copied, err := w.Copy(ctx, e.Root(), settings.Copy, e.Environ...)
	if err != nil {
		return err
	}
	if n := len(copied.Files); n > 0 {
		cli.Tell(e.Stderr, "copied %s that git does not track", units.Quantity(n, "file"))
	}
	for i, name := range copied.Withheld {
		if i == maxShown {
			cli.Tell(e.Stderr, "and %d more", len(copied.Withheld)-i)
			break
		}
		cli.Tell(e.Stderr, "not copied, because it looks like a secret: %s", cli.Clean(name))
	}
	if len(copied.Withheld) > 0 {
		cli.Tell(e.Stderr, "hint: its name without wildcards in worktree.copy or %s brings it along", workspace.Include)
	}
	if settings.Setup == "" {
		return nil
	}
	cli.Tell(e.Stderr, "worktree.setup: %s", cli.Clean(settings.Setup))
	env := process.Environment(e.Environ, nil, runner.LoopVariables(name, dir, w.PortBase))
	if err := workspace.Setup(ctx, w.Project(), settings.Setup, env, nil); err != nil {
		return cli.Refuse("correct worktree.setup, and do it again; nothing is left of this try", "%w", err)
	}
	return nil
}

// copyPlan brings the plan along as the person has it: it may not be committed.
func copyPlan(from, to string) error {
	for _, name := range []string{plan.Tasks, plan.PRD, plan.Prompt, plan.Progress} {
		text, err := plan.Read(from, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.MkdirAll(plan.Dir(to), 0o777)
		}
		if err == nil {
			err = safefile.WriteFile(plan.Path(to, name), text, 0o644)
		}
		if err != nil {
			return fmt.Errorf("copy the plan to the worktree: %w", err)
		}
	}
	return nil
}

// workDirIn returns the folder in the worktree in which the agent works.
func (p *Plan) workDirIn(e *cli.Env) string {
	if inside, err := filepath.Rel(e.Root(), e.WorkDir()); err == nil && filepath.IsLocal(inside) {
		path := filepath.Join(p.worktree.Project(), inside)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return path
		}
	}
	if info, err := os.Stat(p.worktree.Project()); err == nil && info.IsDir() {
		return p.worktree.Project()
	}
	return p.worktree.Path // nothing of the project is committed
}
