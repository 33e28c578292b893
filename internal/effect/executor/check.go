package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/effect/guardrail"
	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/effect/task"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// onlyInspect is Decided.Only of a check that runs no guardrails.
const onlyInspect = "look"

// checkPlan is the part of the state that a check needs.
type checkPlan struct {
	files   policy.FileChanges
	stories policy.Stories
	spans   policy.ToolSpans
	rules   event.Rules
	votes   policy.Votes
	voters  int
	changes policy.Changes
}

// check inspects the agent's work and runs the guardrails.
func (x *Executor) check(ctx context.Context, d event.Decided, last checkPlan, cause event.Seq) error {
	if x.cfg.Settle != nil {
		if did := x.cfg.Settle(ctx); len(did) > 0 {
			x.deliver(event.SandboxCorrected{Did: did}, d.Iteration, cause)
		}
	}
	if err := x.restoreSnapshot(d.Iteration, last.files, cause); err != nil {
		return err
	}
	last.stories.NoVerdict = x.undoReview(ctx, last.spans, cause) || last.stories.NoVerdict
	x.judged, x.results.last = nil, nil
	finished, err := x.checkStories(ctx, d, last, cause)
	if err != nil {
		return err
	}
	if x.cfg.Commands != nil {
		// An agent that asked for a person at the end of its turn must not be started again.
		x.cfg.Commands(ctx)
	}
	x.inspectRepos(ctx, "end", last.changes, last.rules, d.Iteration, cause)
	marks, err := x.inspectFolder(d.Iteration, cause)
	if err != nil {
		return err
	}
	checked := event.IterationChecked{}
	if len(x.cfg.Guardrails) > 0 && (d.Only != onlyInspect || marks.Done || finished) {
		checked, err = x.runGuardrails(ctx, d.Iteration, cause)
		if err != nil {
			return fmt.Errorf("run the guardrails: %w", err)
		}
		if x.snapshot != nil {
			if err := x.compareSnapshot(d.Iteration, cause, true); err != nil {
				return err
			}
		}
		if err := x.checkStoriesAgain(d, last, cause); err != nil {
			return err
		}
	}
	checked.Snapshot, checked.Warning = x.keepEnd(ctx, d.Iteration), x.noteMade(ctx, d.Iteration, cause)
	x.deliver(checked, d.Iteration, cause)
	return nil
}

// inspectTimeout limits the inspection of all repositories together.
const inspectTimeout = 2 * time.Minute

// inspectRepos reports the state of each repository, and which could not be read. A project without
// a repository or without git is no error. After ctx is cancelled nothing more is reported. changes
// knows how the repositories were before the first iteration. away are those that left the branch.
func (x *Executor) inspectRepos(ctx context.Context, when event.Moment, changes policy.Changes, rules event.Rules, iteration int,
	cause event.Seq) (away []event.RepoInspected) {
	limited, cancel := context.WithTimeoutCause(ctx, inspectTimeout, fmt.Errorf("not done after %s: %w", units.Plain(inspectTimeout), context.DeadlineExceeded))
	defer cancel()
	unseen := func(root string, err error) {
		if ctx.Err() == nil && !repo.Absent(err) {
			x.deliver(event.RepoUnreadable{Root: x.relative(root), When: when, Error: err.Error()}, iteration, cause)
		}
	}
	err := repo.EachSnapshot(limited, x.cfg.Project, func(root string, now repo.Snapshot, err error) {
		if err != nil {
			unseen(root, err)
			return
		}
		seen := event.RepoInspected{
			Root: x.relative(root), When: when, Head: now.Head, Branch: now.Branch, Dirty: now.Dirty, Fingerprint: now.Fingerprint,
			Files: now.Files, Insertions: now.Insertions, Deletions: now.Deletions,
		}
		if seen.Left = changes.Left(seen); seen.Left != "" {
			away = append(away, seen)
		}
		before, known := changes.Before(seen.Root)
		if known && when == event.MomentEnd {
			seen.Whole = x.whole(limited, root, before, seen)
		}
		if rules.Limits.Diff > 0 && !rules.Stories && known == (when == event.MomentEnd) {
			from := now.Head
			if known && !rules.PullRequests {
				from = before.Head
			}
			seen.Size = x.size(limited, root, from)
		}
		if when == event.MomentBegin {
			x.heads[root] = headAt{now.Head, time.Now()}
		} else if old, known := x.heads[root]; known && old.commit != now.Head {
			x.countCommits(limited, root, old, &seen)
		}
		if when == event.MomentEnd {
			x.ends[root] = seen
		}
		x.deliver(seen, iteration, cause)
	}, x.cfg.Env...)
	if err != nil {
		unseen(x.cfg.Project, err)
	}
	return away
}

// headAt is the commit that HEAD named at a moment.
type headAt struct {
	commit string
	at     time.Time
}

// countCommits says which commits a repository has that it did not have at the begin. After an
// error their number is 0.
func (x *Executor) countCommits(ctx context.Context, root string, old headAt, seen *event.RepoInspected) {
	seen.Commits, _ = repo.Since(ctx, root, old.commit, x.cfg.Env...)
	if seen.Commits == 0 {
		return
	}
	if made, err := repo.Between(ctx, root, old.commit, seen.Head, x.cfg.Env...); err == nil {
		seen.Committed = &event.Difference{Files: made.Files, Insertions: made.Insertions, Deletions: made.Deletions}
	}
	seen.Made, _ = repo.Made(ctx, root, old.commit, seen.Head, old.at, time.Now(), x.cfg.Env...)
}

// whole returns the difference of a repository from how it was before the first iteration; nil if
// it cannot be read. Lines of a file that differed before are counted, the file is not.
func (x *Executor) whole(ctx context.Context, root string, before event.RepoInspected, now event.RepoInspected) *event.Difference {
	all := event.Difference{
		Files: max(0, now.Files-before.Files), Insertions: max(0, now.Insertions-before.Insertions), Deletions: max(0, now.Deletions-before.Deletions),
	}
	if before.Head == now.Head {
		return &all
	}
	made, err := repo.Between(ctx, root, before.Head, now.Head, x.cfg.Env...)
	if err != nil {
		return nil
	}
	all.Files, all.Insertions, all.Deletions = all.Files+made.Files, all.Insertions+made.Insertions, all.Deletions+made.Deletions
	return &all
}

// largestFiles is how many files a size names.
const largestFiles = 5

// size returns how many lines differ from a commit, empty for none, committed or not; nil if they
// cannot be counted. The plan of a loop over stories does not count, nor does its marker.
func (x *Executor) size(ctx context.Context, root, from string) *event.Size {
	now, err := keep.FilesNow(ctx, root, x.cfg.Env...)
	if err != nil {
		return nil
	}
	files, err := keep.Lines(ctx, root, from, now, x.cfg.Env...)
	if err != nil {
		return nil
	}
	if own, err := repo.Inside(plan.Dir(root)); err == nil {
		active := path.Join(path.Dir(own), plan.Active)
		files = slices.DeleteFunc(files, func(f keep.FileLines) bool { return strings.HasPrefix(f.Path, own+"/") || f.Path == active })
	}
	size := sizeOf(files)
	return &size
}

// sizeOf adds up the lines of files.
func sizeOf(files []keep.FileLines) (size event.Size) {
	slices.SortStableFunc(files, func(a, b keep.FileLines) int { return b.Lines - a.Lines })
	for _, f := range files {
		switch {
		case f.Generated:
			size.Skipped += f.Lines
		case f.Lines > 0:
			size.Lines += f.Lines
			if len(size.Largest) < largestFiles {
				size.Largest = append(size.Largest, event.SizeFile{Path: f.Path, Lines: f.Lines})
			}
		}
	}
	return size
}

// relative returns a folder's name in the journal: relative to the project if it is inside.
func (x *Executor) relative(root string) string {
	if name, err := filepath.Rel(x.cfg.Project, root); err == nil && filepath.IsLocal(name) {
		return filepath.ToSlash(name)
	}
	return root
}

// inspectFolder reports the marks that the agent left in the loop's folder.
func (x *Executor) inspectFolder(iteration int, cause event.Seq) (task.Marks, error) {
	marks, err := task.ReadMarks(x.cfg.Dir)
	if err != nil {
		return marks, &promptError{err}
	}
	seen := event.FolderInspected{
		Done: marks.Done, Wait: marks.Wait, Text: marks.DoneText,
		Boxes: marks.Boxes.Total, Ticked: marks.Boxes.Ticked, Open: marks.Boxes.Open, SHA256: marks.TaskSHA256,
	}
	if !marks.Done {
		seen.Text = marks.WaitText
	}
	x.deliver(seen, iteration, cause)
	return marks, nil
}

// runGuardrails runs the guardrails. One that a cancelled ctx interrupts has no verdict; that is no
// error.
func (x *Executor) runGuardrails(ctx context.Context, iteration int, cause event.Seq) (event.IterationChecked, error) {
	var checked event.IterationChecked
	var failures error
	x.results.last = nil
	_, err := guardrail.Run(ctx, guardrail.Config{
		Dir: x.cfg.Project, LoopDir: x.cfg.Dir, Iteration: iteration, Env: x.cfg.Env, Wrap: x.cfg.Wrap,
		TruncateChars: x.cfg.TruncateChars, Guardrails: x.cfg.Guardrails, Redact: x.redactor(),
		Started: func(_ int, g guardrail.Guardrail) {
			x.deliver(event.GuardrailStarted{Name: g.Command}, iteration, cause)
		},
		Ended: func(_ int, r guardrail.Result) {
			ended, err := x.verdict(r)
			if err != nil {
				failures = errors.Join(failures, err)
				return
			}
			if errors.Is(r.Err, guardrail.ErrInterrupted) {
				return
			}
			x.keepResult(r)
			checked.Guardrails++
			if !ended.OK {
				checked.Failed++
			}
			x.deliver(ended, iteration, cause)
		},
	})
	if ctx.Err() != nil {
		return checked, nil
	}
	return checked, errors.Join(err, failures)
}

// holdOut runs the held-out guardrails.
func (x *Executor) holdOut(ctx context.Context, d event.Decided, cause event.Seq) error {
	if x.cfg.HoldOut == nil {
		return errors.New("there are no held-out guardrails any more")
	}
	checked := x.cfg.HoldOut(ctx, d.Iteration, func(ended event.HoldoutEnded) { x.deliver(ended, d.Iteration, cause) })
	x.deliver(checked, d.Iteration, cause)
	return nil
}

// redactor returns a constructor of stream redactors; nil if nothing is redacted.
func (x *Executor) redactor() func() guardrail.Redactor {
	if x.cfg.Secrets == nil {
		return nil
	}
	return func() guardrail.Redactor { return x.cfg.Secrets.Stream() }
}

// verdict converts a guardrail's result for the journal.
func (x *Executor) verdict(r guardrail.Result) (event.GuardrailEnded, error) {
	ended := event.GuardrailEnded{
		Name: r.Guardrail.Command, OK: r.OK, Code: r.Code, TimedOut: r.TimedOut, Took: r.Took.Milliseconds(), Log: r.Log,
	}
	if r.Warning != nil {
		ended.Warning = r.Warning.Error()
	}
	if r.OK || r.Err != nil {
		return ended, nil
	}
	message, err := x.cfg.Blob([]byte(r.Message))
	if err != nil {
		return ended, fmt.Errorf("store what a guardrail printed: %w", err)
	}
	ended.Action, ended.Message = r.Guardrail.FailAction, &message
	return ended, nil
}

// prepare inspects folder and repositories before an iteration. done means that DONE exists, so no
// iteration is needed.
func (x *Executor) prepare(ctx context.Context, p *promptPlan, cause event.Seq) (done bool, err error) {
	if p.aside {
		if err := task.RemoveDone(x.cfg.Dir); err != nil {
			return false, &promptError{err}
		}
	}
	if p.rules.Breaker.NoProgress > 0 || p.rules.Completion.MinToolCalls > 0 || p.rules.Stories || p.rules.Limits.Diff > 0 {
		for _, seen := range x.inspectRepos(ctx, "begin", p.changes, p.rules, p.decision.Iteration, cause) {
			p.parts.Left = append(p.parts.Left, leftBranch(seen))
		}
	}
	_, err = os.Lstat(filepath.Join(x.cfg.Dir, task.DoneFile))
	if err == nil || p.rules.Completion.Checklist || p.rules.Breaker.NoProgress > 0 || p.rules.Completion.MinToolCalls > 0 {
		marks, err := x.inspectFolder(p.decision.Iteration, cause)
		if err != nil {
			return false, err
		}
		if marks.Done && p.rules.Completion.DoneFile {
			return true, nil
		}
	}
	if err := task.RemoveWait(x.cfg.Dir); err != nil {
		return false, &promptError{err}
	}
	return false, x.takeSnapshot(*p, cause)
}
