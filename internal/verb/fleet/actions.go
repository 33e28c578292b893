package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/story"
	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/effect/workspace"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/internal/verb/merging"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// Each action looks first for what an agent that was killed has done of it.

func (r *run) carryOut(ctx context.Context, t policy.FleetTask) error {
	switch t.Doing.Do {
	case event.FleetBegin:
		return r.begin(ctx, t)
	case event.FleetResume:
		return r.resume(ctx, t)
	case event.FleetMerge:
		return r.merge(ctx, t)
	}
	return fmt.Errorf("a fleet cannot %q", t.Doing.Do)
}

// result records what an action came to.
func (r *run) result(ctx context.Context, t policy.FleetTask, what event.FleetResult, why string) error {
	return r.record(ctx, event.FleetObserved{Task: t.ID, What: what, Why: why})
}

func (r *run) task(id string) Task {
	return r.tasks.List[slices.IndexFunc(r.tasks.List, func(t Task) bool { return t.ID == id })]
}

// begin starts the loop of a task, on a branch that begins where the fleet is. A loop of this fleet
// that is there was started before.
func (r *run) begin(ctx context.Context, t policy.FleetTask) error {
	task := r.task(t.ID)
	l, err := r.look(t.Loop)
	if err != nil {
		return r.result(ctx, t, event.FleetRefused, err.Error())
	}
	if !(l.Alive || l.Begun) || !r.within(t.Loop) {
		branch, err := r.makeBranch(ctx, launch.BranchOf(t.Loop))
		if err != nil {
			return err
		}
		// The start of the fleet has tried the guardrails.
		args := []string{"start", t.Loop, "--detach", "--anyway", "--worktree=" + branch, "--prompt=-"}
		if t.Share > 0 {
			args = append(args, "--set", "limits.cost="+strconv.FormatFloat(t.Share, 'f', 4, 64))
		}
		if len(r.tasks.Verify) > 0 {
			args = append(args, r.verify()...)
		}
		if said, err := r.ralph(ctx, r.prompt(task), append(args, r.Flags...)...); ctx.Err() != nil {
			return context.Cause(ctx)
		} else if err != nil {
			return r.result(ctx, t, event.FleetRefused, "its loop could not be started: "+said)
		}
	}
	r.say("%s begins: %s (loop %s)", t.ID, task.Title, t.Loop)
	return r.result(ctx, t, event.FleetStarted, "")
}

// branchNames is how many names are tried for the branch of a task.
const branchNames = 3

// makeBranch makes the branch of a task's loop, where the fleet is. If the branch is there already,
// the fleet was killed before the loop used it. A git that was killed may have left a lock on the
// name: then another one is taken.
func (r *run) makeBranch(ctx context.Context, name string) (string, error) {
	var failed error
	for n := 1; n <= branchNames; n++ {
		branch := name
		if n > 1 {
			branch = fmt.Sprintf("%s-%d", name, n)
		}
		if repo.HasBranch(ctx, r.project, branch, r.e.Environ...) {
			return branch, nil
		}
		if failed = repo.MakeBranch(ctx, r.tree, branch, r.e.Environ...); failed == nil {
			return branch, nil
		}
	}
	return "", failed
}

// verify are the flags that make the commands of tasks.json guardrails, besides those of the
// settings.
func (r *run) verify() []string {
	if text := r.tasks.guardrails(r.e, r.project); text != "" {
		return []string{"--set", "guardrails=" + text}
	}
	return nil
}

// prompt is the base prompt of a task's loop.
func (r *run) prompt(t Task) string {
	facts := filepath.Join(r.dir, FactsFile)
	return fmt.Sprintf(`%s%s

You work on this task alone, in a worktree of your own; other loops work on other tasks of the same project at the same
time. Commit your work when it is done. Do not merge or push it: that is done for you.

What the others have found is in %s. Append a line to it, such as "- the parser is in internal/parse", when you find
something that they need. Never change a line of theirs.
`, t.Text, aboutPlan(r.tree, r.Folder), facts)
}

// aboutPlan is what the prompts of stories say besides: where the plan is, and what the person adds
// to each prompt. Tasks of a folder have none.
func aboutPlan(tree, folder string) string {
	if folder != "" {
		return ""
	}
	about := `

This story is one of a plan. Before you begin, read ralph/prd.md, which says what is to be built, and ralph/progress.txt, its
section Codebase Patterns first. Leave the files in ralph/ as they are: what is done is recorded for you.`
	if extra, err := plan.Read(tree, plan.Prompt); err == nil && len(bytes.TrimSpace(extra)) > 0 {
		about += "\n\n" + string(bytes.TrimSpace(extra))
	}
	return about
}

// ralph runs a verb of ralph, and returns what it said on stderr.
func (r *run) ralph(ctx context.Context, stdin string, args ...string) (said string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = r.project, r.e.Environ, strings.NewReader(stdin)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	return strings.Join(strings.Fields(out.String()), " "), err
}

// resume resumes the loop of a task, with a message for its agent. A loop that has gone on since
// its end was seen was resumed before.
func (r *run) resume(ctx context.Context, t policy.FleetTask) error {
	l, err := r.look(t.Loop)
	if err != nil {
		return r.result(ctx, t, event.FleetRefused, err.Error())
	}
	if !l.Alive && l.Seq <= t.Seq {
		if t.Doing.Message != "" {
			if _, err := client.Drop(t.Loop, r.loopDir(t.Loop), inbox.Command{Kind: inbox.FollowUp, Text: t.Doing.Message}); err != nil {
				return r.result(ctx, t, event.FleetRefused, err.Error())
			}
		}
		more := "3" // iterations
		if s, err := loopstate.Open(r.loopDir(t.Loop)); err == nil {
			more = strconv.Itoa(max(s.Rules.MaximumIterations, s.Budget.Counted+3))
		}
		if said, err := r.ralph(ctx, "", "start", t.Loop, "--resume", "--detach", "--maximum-iterations", more); ctx.Err() != nil {
			return context.Cause(ctx)
		} else if err != nil {
			return r.result(ctx, t, event.FleetRefused, "its loop could not be resumed: "+said)
		}
	}
	r.say("%s goes on: %s", t.ID, t.Doing.Why)
	return r.result(ctx, t, event.FleetStarted, "")
}

// merge merges the work of a task into the fleet's branch. Guardrails have to pass on the result.
func (r *run) merge(ctx context.Context, t policy.FleetTask) error {
	dir := r.loopDir(t.Loop)
	w, err := workspace.Read(dir)
	if err != nil {
		return r.result(ctx, t, event.FleetLost, err.Error())
	}
	if w == nil {
		return r.result(ctx, t, event.FleetLost, "its worktree is gone")
	}
	if err := r.keepBase(ctx, &t); err != nil {
		return err
	}
	if err := r.commitRest(ctx, t, w); err != nil {
		return r.result(ctx, t, event.FleetUncommitted, err.Error())
	}
	done, err := merging.Merge{Name: t.Loop, Tree: r.tree, Message: fmt.Sprintf("Merge %s: %s", t.ID, r.task(t.ID).Title)}.Do(ctx, r.e, registry.Status{
		Entry: registry.Entry{Name: t.Loop, Dir: dir, Project: r.project},
	}, w)
	head, _ := repo.BranchBase(ctx, r.project, w.Branch, r.e.Environ...) // empty for a branch that is gone
	switch {
	case errors.Is(err, repo.ErrMerged) && head == w.Base: // whatever the agent claims
		return r.result(ctx, t, event.FleetUnchanged, "")
	case errors.Is(err, repo.ErrMerged): // by a merge that was killed before it was recorded
		done.Result = head
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, repo.ErrConflicts):
		return r.result(ctx, t, event.FleetConflicting, err.Error())
	case err != nil:
		return r.result(ctx, t, event.FleetRejected, err.Error())
	}
	if r.Folder == "" {
		if err := r.markStory(ctx, t); err != nil {
			return err
		}
	}
	if err := r.record(ctx, event.FleetObserved{Task: t.ID, What: event.FleetAccepted, Commit: done.Result}); err != nil {
		return err
	}
	r.say("%s is merged (%d of %d)", t.ID, r.state.Fleet.Count(event.FleetMerged), len(r.tasks.List))
	return nil
}

// commitRest commits what the agent of a task left uncommitted.
func (r *run) commitRest(ctx context.Context, t policy.FleetTask, w *workspace.Worktree) error {
	if w.Check() != nil {
		return nil // its branch has what was committed
	}
	_, err := repo.Run(ctx, repo.Config{Dir: w.Path, Tasks: []string{"commit"}, AddUntracked: true,
		Message: fmt.Sprintf("%s: %s", t.ID, r.task(t.ID).Title), Env: r.e.Environ})
	return err
}

// keepBase records the commit before the merge: what an agent wrote into its ralph/tasks.json does
// not count, and a merge that is killed is made again.
func (r *run) keepBase(ctx context.Context, t *policy.FleetTask) error {
	if r.Folder != "" || t.Base != "" {
		return nil
	}
	base, err := repo.BranchBase(ctx, r.tree, r.branch(ctx), r.e.Environ...)
	if err != nil {
		return err
	}
	t.Base = base
	return r.record(ctx, event.FleetObserved{Task: t.ID, What: event.FleetBased, Commit: base})
}

// markStory records in ralph/tasks.json that a story is done, without a review, and commits that.
func (r *run) markStory(ctx context.Context, t policy.FleetTask) error {
	path := plan.Path(r.tree, plan.Tasks)
	var data []byte
	changed, err := repo.Uncommitted(ctx, r.tree, path, r.e.Environ...)
	if err == nil && changed { // by a person: what agents do is committed and merged
		data, err = plan.ReadTasks(r.tree)
	} else if err == nil {
		data, err = repo.FileAt(ctx, r.tree, t.Base, filepath.Join(plan.Folder, plan.Tasks), r.e.Environ...)
	}
	if err != nil {
		return err
	}
	if data, err = story.Pass(data, t.ID, "done by loop "+t.Loop); err != nil {
		return fmt.Errorf("ralph/tasks.json of the fleet: %w", err)
	}
	if err := plan.WriteTasks(r.tree, data); err != nil {
		return err
	}
	_, err = repo.Run(ctx, repo.Config{Dir: r.tree, Tasks: []string{"commit"}, Message: t.ID + " is done", Env: r.e.Environ})
	return err
}
