// Package merging does what the verb merge does: it merges the branch of a loop's worktree into the
// branch that the person has checked out.
//
// The result is made as a commit that no branch has. The loop's guardrails run on it, in the loop's
// worktree if that has the same files, else in one of its own. Only then the person's branch and
// files move, as by a fast-forward. A merge that is killed leaves at most that worktree, which the
// next one removes.
package merging

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/guardrail"
	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/effect/workspace"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/registry"
)

// Merge is one merge.
type Merge struct {
	Name    string
	How     string // repo.MergeAuto and so on
	Message string // of the commits that are made; "" for words of the agent, or the branch's name
	Commit  bool   // what the worktree has not committed, without asking
	NoCheck bool   // the guardrails do not run
	DryRun  bool   // the branch stays where it is
	JSON    bool
	// Tree is the folder whose branch gets the work, by a caller that holds its lock; "" for the
	// project's.
	Tree string
}

// Done is what --json prints.
type Done struct {
	Name       string   `json:"name"`
	Branch     string   `json:"branch"`
	Into       string   `json:"into"`
	Before     string   `json:"before"` // the commit of into before
	Result     string   `json:"result"` // and after the merge
	Commits    int      `json:"commits"`
	How        string   `json:"how"`        // ff, merge or squash
	Guardrails []string `json:"guardrails"` // that passed on the result
	Merged     bool     `json:"merged"`     // false with --dry-run
}

// Run merges.
func (m Merge) Run(e *cli.Env) error {
	s, err := e.Find(m.Name)
	if err != nil {
		return err
	}
	w, err := workspace.Read(s.Dir)
	switch {
	case err != nil:
		return err
	case w == nil:
		return cli.Refuse("there is nothing to merge: its commits are on the branch that was checked out there",
			"loop %s works in the project itself, and has no worktree", s.Name)
	}
	if s.Live.Alive {
		return cli.Refuse(fmt.Sprintf("'ralph stop %s' ends it; 'ralph attach %s' shows it", s.Name, s.Name), "loop %s is running", s.Name)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	done, err := m.Do(ctx, e, s, w)
	if err != nil {
		return err
	}
	return m.print(e, done)
}

// Do merges the work in the worktree w of a loop that does not run.
func (m Merge) Do(ctx context.Context, e *cli.Env, s registry.Status, w *workspace.Worktree) (done Done, err error) {
	err = launch.WithLock(s.Dir, func() error {
		if m.Tree != "" {
			done, err = m.merge(ctx, e, s, w)
			return err
		}
		m.Tree = s.Project
		lock, err := runner.AcquireTree(e.Home, s.Project, false)
		if err != nil {
			return err
		}
		done, err = m.merge(ctx, e, s, w)
		return errors.Join(err, lock.Release())
	})
	return done, err
}

func (m Merge) merge(ctx context.Context, e *cli.Env, s registry.Status, w *workspace.Worktree) (Done, error) {
	from, err := m.branch(ctx, e, s, w)
	if err != nil {
		return Done{}, err
	}
	plan, err := repo.PlanMerge(ctx, m.Tree, from, m.How, m.message(s, w), e.Environ...)
	if err != nil {
		return Done{}, m.refusal(err, plan, w)
	}
	done := Done{Name: s.Name, Branch: w.Branch, Into: plan.Into, Before: plan.Before, Result: plan.Result,
		Commits: plan.Commits, How: m.How, Guardrails: []string{}}
	if plan.FF {
		done.How = repo.MergeFF
	} else if m.How == repo.MergeAuto {
		done.How = repo.MergeCommit
	}
	if !m.NoCheck {
		if done.Guardrails, err = m.check(ctx, e, s, w, plan); err != nil {
			return done, err
		}
	}
	if m.DryRun {
		return done, nil
	}
	if err := keep.Merge(ctx, m.Tree, plan, e.Environ...); err != nil {
		return done, m.refusal(err, plan, w)
	}
	done.Merged = true
	return done, w.SetMerged(s.Dir, plan.From)
}

// branch returns the commit of the branch that the loop works on, which has all of its work.
func (m Merge) branch(ctx context.Context, e *cli.Env, s registry.Status, w *workspace.Worktree) (string, error) {
	if err := w.Check(); err != nil { // the branch is still there
		return "refs/heads/" + w.Branch, nil
	}
	work, err := repo.InspectWork(ctx, w.Path, e.Environ...)
	switch {
	case err != nil:
		return "", err
	case work.Branch != w.Branch:
		return "", cli.Refuse(fmt.Sprintf("'git -C %s switch %s' brings the branch back, or merge by hand", e.Short(w.Path), w.Branch),
			"the worktree of the loop is not on its branch %s but on %s", w.Branch, branchWords(work.Branch))
	case work.Changes > 0:
		return m.commitRest(ctx, e, s, w)
	}
	return work.Head, nil
}

// commitRest commits what the agent left uncommitted in the worktree, once a person agrees, and
// returns the commit.
func (m Merge) commitRest(ctx context.Context, e *cli.Env, s registry.Status, w *workspace.Worktree) (string, error) {
	names, err := repo.Changed(ctx, w.Path, e.Environ...)
	if err != nil {
		return "", err
	}
	message := m.Message
	if message == "" {
		message = lastWords(s)
	}
	about := fmt.Sprintf("%s in the worktree %s not committed", units.Quantity(len(names), "file"), isAre(len(names)))
	lines := []string{"  " + cli.Clean(units.Cut(strings.Join(names, ", "), maxNames))}
	hint := fmt.Sprintf("'ralph merge %s --commit' commits them first; 'git -C %s status' shows them", s.Name, e.Short(w.Path))
	switch agreed := m.Commit; {
	case m.DryRun:
		return "", cli.Refuse(hint, "%s:\n%s", about, lines[0])
	case !agreed:
		question := fmt.Sprintf("Commit them on %s as %q?", w.Branch, cli.Clean(message))
		if agreed, err = e.ConfirmAll(about, lines, question, hint); err != nil {
			return "", err
		}
		if !agreed {
			return "", cli.Refuse(hint, "nothing was merged")
		}
	}
	done, err := repo.Run(ctx, repo.Config{Dir: w.Path, Tasks: []string{"commit"}, AddUntracked: true, Message: message, Env: e.Environ})
	switch {
	case err != nil:
		return "", fmt.Errorf("commit the work in the worktree: %w", err)
	case !done.Committed:
		return "", cli.Refuse(hint, "%s, and git commits none of them:\n%s", about, lines[0])
	}
	cli.Tell(e.Stderr, "committed %.10s %s (%s)", done.SHA, cli.Clean(message), units.Quantity(done.Stat.Files, "file"))
	return done.SHA, nil
}

// maxNames bounds the names of files in a message, and maxSubject the subject of a commit: both in
// characters.
const maxNames, maxSubject = 500, 72

// lastWords is the first line of what the agent said last, without claims: a commit's message.
func lastWords(s registry.Status) string {
	if state, err := loopstate.Open(s.Dir); err == nil && state.Last != nil {
		for line := range strings.Lines(state.Last.Summary) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "<") {
				if message, err := repo.Message(line); err == nil {
					return units.Cut(message, maxSubject)
				}
			}
		}
	}
	return "Work of loop " + s.Name
}

func branchWords(name string) string {
	if name == "" {
		return "no branch"
	}
	return name
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func (m Merge) message(s registry.Status, w *workspace.Worktree) string {
	switch {
	case m.Message != "":
		return m.Message
	case m.How == repo.MergeSquash:
		return fmt.Sprintf("Work of loop %s\n\nAll commits of the branch %s in one.", s.Name, w.Branch)
	}
	return fmt.Sprintf("Merge branch '%s' of loop %s", w.Branch, s.Name)
}

// refusal adds the next step.
func (m Merge) refusal(err error, plan repo.Merge, w *workspace.Worktree) error {
	switch {
	case errors.Is(err, repo.ErrMerged):
		return cli.Refuse("'ralph clean' removes the loop with its worktree", "branch %s: %w", w.Branch, err)
	case errors.Is(err, repo.ErrNotFF):
		return cli.Refuse("leave --ff-only out for a merge commit, or rebase the branch", "branch %s into %s: %w", w.Branch, plan.Into, err)
	case errors.Is(err, repo.ErrDetached):
		return cli.Refuse("'git switch BRANCH' checks out the one that gets the work", "branch %s: %w", w.Branch, err)
	case errors.Is(err, repo.ErrUnborn):
		return cli.Refuse("'git switch BRANCH' checks out one that has a commit; or commit on "+plan.Into+" first",
			"branch %s into %s: %w; nothing was changed", w.Branch, plan.Into, err)
	case errors.Is(err, keep.ErrInTheWay):
		return cli.Refuse("commit them, or move them away: 'git stash -u' takes all but ignored files",
			"branch %s into %s: %w; nothing was changed here", w.Branch, plan.Into, err)
	case errors.Is(err, repo.ErrConflicts):
		return cli.Refuse(fmt.Sprintf("merge %s into %s in the worktree, by hand or by the loop: 'ralph start %s --resume' and 'ralph follow-up'", plan.Into, w.Branch, m.Name),
			"branch %s into %s: %w in %s; nothing was changed", w.Branch, plan.Into, err, cli.Clean(strings.Join(plan.Conflicts, ", ")))
	}
	return err
}

// check runs the loop's guardrails on the result.
func (m Merge) check(ctx context.Context, e *cli.Env, s registry.Status, w *workspace.Worktree, plan repo.Merge) (passed []string, err error) {
	settings, err := launch.LoopSettings(e, s.Dir)
	if err != nil {
		return nil, err
	}
	if len(settings.Guardrails) == 0 {
		cli.Tell(e.Stderr, "the loop has no guardrail: nothing is checked")
		return []string{}, nil
	}
	project := w.Project()
	if same, err := repo.SameTree(ctx, w.Path, plan.Tree, e.Environ...); err != nil || !same {
		path := filepath.Join(s.Dir, workspace.MergeFolder)
		if err := keep.DropWorktree(ctx, s.Project, path, e.Environ...); err != nil {
			return nil, err
		}
		defer func() {
			err = errors.Join(err, keep.DropWorktree(context.WithoutCancel(ctx), s.Project, path, e.Environ...))
		}()
		if err := repo.AddCommitWorktree(ctx, s.Project, path, plan.Result, e.Environ...); err != nil {
			return nil, err
		}
		beside := &workspace.Worktree{Path: path, Inside: w.Inside, PortBase: w.PortBase}
		if err := launch.FillWorktree(ctx, e, s.Name, s.Dir, beside, settings.Worktree); err != nil {
			return nil, err
		}
		project = beside.Project()
	}
	return runGuardrails(ctx, e, s, settings, project, w.PortBase)
}

func runGuardrails(ctx context.Context, e *cli.Env, s registry.Status, settings config.Settings, project string, portBase int) (passed []string, err error) {
	passed = []string{}
	var failed []string
	cfg, _ := launch.Guardrails(e, s.Name, s.Dir, portBase, settings)
	cfg.Dir = project
	cfg.Started = func(_ int, g guardrail.Guardrail) { cli.Tell(e.Stderr, "guardrail: %s", cli.Clean(g.Command)) }
	cfg.Ended = func(_ int, r guardrail.Result) {
		if r.OK {
			passed = append(passed, r.Guardrail.Command)
			return
		}
		failed = append(failed, fmt.Sprintf("%s (exit %d, output in %s)", cli.Clean(r.Guardrail.Command), r.Code, e.Short(filepath.Join(s.Dir, r.Log))))
	}
	_, err = guardrail.Run(ctx, cfg)
	switch {
	case ctx.Err() != nil:
		return passed, cli.Refuse("nothing was changed", "merge: interrupted")
	case err != nil:
		return passed, err
	case len(failed) > 0:
		return passed, cli.Refuse("nothing was changed; correct it on the loop's branch, or say --no-check",
			"the result of the merge fails: %s", strings.Join(failed, "; "))
	}
	return passed, nil
}

func (m Merge) print(e *cli.Env, done Done) error {
	if m.JSON {
		return cli.PrintJSON(e.Stdout, done, "")
	}
	word := "merged"
	if !done.Merged {
		word = "would merge"
	}
	fmt.Fprintf(e.Stdout, "%s %s of %s into %s (%s): %.12s\n", word, units.Quantity(done.Commits, "commit"), done.Branch, done.Into, done.How, done.Result)
	if done.Merged {
		cli.Tell(e.Stderr, "hint: 'ralph clean %s' removes the loop with its worktree", done.Name)
	}
	return nil
}
