package launch

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	tasks "github.com/ralph-loop/ralph/internal/effect/task"
	"github.com/ralph-loop/ralph/internal/effect/workspace"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/runner"
)

// A ready loop has what its runner needs. Until its agent runs, undo removes it.
type ready struct {
	*Plan
	cfg  runner.Config
	kept []string // files that were there before a new loop began
}

// prepare makes what the plan needs: the loop's folder, its worktree, its task. If that fails, it
// undoes what it made.
func (p *Plan) prepare(e *cli.Env) (*ready, error) {
	if err := p.unchanged(e); err != nil {
		return nil, err
	}
	r := &ready{Plan: p, cfg: runner.Config{
		ID: p.ID, Name: p.Name, Dir: p.Dir, Project: e.Root(), WorkDir: p.workDir, Home: e.Home, Version: cli.BuildVersion(), Given: givenSettings(p.loaded),
		Resume: p.Resume, AcceptChanges: p.AcceptChanges, When: p.when, Stories: p.stories != nil,
	}}
	if p.Worktree == nil {
		if err := p.tryGuardrails(e); err != nil {
			return nil, err
		}
	}
	if err := r.makeRoom(e); err != nil {
		return nil, err
	}
	if err := MakeFolders(e, p.Dir); err != nil {
		return nil, err
	}
	if err := r.fill(e); err != nil {
		// A worktree that could not be made is undone already: what is there is of another start.
		if r.Worktree == nil || r.worktree != nil {
			r.undo(e, readiness{PID: os.Getpid(), Error: err.Error()})
		}
		return nil, err
	}
	return r, nil
}

// unchanged refuses to act on a loop that was started or changed since the plan was made: a person
// may have been asked meanwhile.
func (p *Plan) unchanged(e *cli.Env) error {
	if err := OwnFolders(e, p.Dir); err != nil {
		return err
	}
	now, err := inspectAfterExit(e, p.Name, p.Dir)
	switch was := p.before; {
	case err != nil:
		return err
	case now.Live.Alive:
		return heldError(p.Name, now.Live)
	case now.Exists != was.Exists, now.unbegun != was.unbegun, now.State.Lifecycle.ID != was.State.Lifecycle.ID, now.State.Seq != was.State.Seq:
		return ChangedMeanwhile(p.Name)
	}
	return nil
}

// makeRoom archives the loop before, and notes which files of the folder are not the new loop's. Of
// a loop that is resumed, it says what its agent may have changed.
func (r *ready) makeRoom(e *cli.Env) (err error) {
	if r.Resume {
		if r.worktree != nil { // the project may have been moved since
			if err := repo.RepairWorktree(context.Background(), e.Root(), r.worktree.Path, e.Environ...); err != nil {
				return err
			}
		}
		return r.warnEdited(e)
	}
	if r.before.Exists {
		to, err := archive(e, r.Name, r.Dir, r.before)
		if err != nil {
			return err
		}
		cli.Tell(e.Stderr, "archived the earlier loop to %s", e.Short(to))
	}
	if r.kept, err = namesIn(r.Dir); err != nil {
		return fmt.Errorf("list the loop's folder: %w", err)
	}
	r.kept = slices.DeleteFunc(r.kept, func(name string) bool {
		// Except for what a person wrote, a runner left the files of a loop that did not begin.
		return name == workspace.Folder || name == workspace.Record || r.before.unbegun && name != tasks.TaskFile && name != tasks.ReflectFile
	})
	return nil
}

// fill makes the worktree and the task of a new loop, and freezes the settings.
func (r *ready) fill(e *cli.Env) (err error) {
	if !r.Resume && r.Worktree != nil {
		if err := r.makeWorktree(e); err != nil {
			return err
		}
		if err := r.tryGuardrails(e); err != nil {
			return err
		}
		r.cfg.WorkDir = r.workDirIn(e)
	}
	if r.worktree != nil {
		r.cfg.Tree, r.cfg.PortBase = r.worktree.Project(), r.worktree.PortBase
	}
	if !r.Resume {
		if err := r.writeTask(e); err != nil {
			return err
		}
	}
	if err := r.stories.ignoreMarker(e, r.tree(e)); err != nil {
		return err
	}
	r.stories.tell(e, r.loaded.Settings)
	if !r.Resume {
		r.stories.tellBranch(e, r.tree(e))
	}
	r.cfg.Frozen, err = config.Freeze(r.loaded.Settings, r.flags())
	return err
}

// writeTask copies the task of a new loop into its folder, and names its prompt for the runner.
func (r *ready) writeTask(e *cli.Env) error {
	if r.copied != "" {
		if err := copyTask(r.copied, r.Dir); err != nil {
			return err
		}
		if r.Prompt == "" && r.PromptFile == "" && checkTask(r.Dir) != nil {
			return cli.Refuse("write in it what is to be done", "%s is the template as it was made", r.Task)
		}
	}
	r.cfg.Prompt, r.cfg.PromptFile = r.text, r.file
	if r.stories != nil {
		r.cfg.PromptFile = plan.Path(r.tree(e), plan.Tasks)
	}
	return nil
}
