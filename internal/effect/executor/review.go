package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/journal/event"
)

// A review iteration may change tasks.json and progress.txt only. The work tree is kept before the
// reviewer runs, and put back when it has ended, unless a person may have changed something
// meanwhile: then all stays. If no check came after it in this runner, the next beginning puts it
// back. A later runner leaves everything as it is, because a person may have changed files
// meanwhile, and reports the ref.

// A reviewed is the work tree before a review.
type reviewed struct {
	base      *keep.Base
	story     string
	iteration int
}

// reviewRefs is the beginning of the names of refs of this loop.
func (x *Executor) reviewRefs() string { return keep.LoopRefs(x.cfg.ID) }

// keepBase keeps the work tree before a reviewer runs. Without it the review goes on, and what the
// reviewer changes is not undone.
func (x *Executor) keepBase(ctx context.Context, p promptPlan, mode event.StoryMode, id string, cause event.Seq) {
	x.reportInterrupted(ctx, p.decision.Iteration, cause)
	if !policy.UndoesReviewer(p.rules, mode) {
		return
	}
	var err error
	if x.cfg.Shared {
		err = errors.New("other loops may work in this work tree (allowSharedWorktree)")
	} else {
		var base *keep.Base
		ref := fmt.Sprintf("%sreview-%d%s", x.reviewRefs(), p.decision.Iteration, beforeSuffix)
		if base, err = keep.WorkTree(ctx, x.reviewDir(), ref, x.cfg.Env...); err == nil {
			x.base = &reviewed{base, id, p.decision.Iteration}
			return
		}
	}
	if ctx.Err() != nil || x.unkept == err.Error() {
		return // it was reported
	}
	x.unkept = err.Error()
	x.deliver(event.ReviewUndone{Story: id, Error: x.unkept}, p.decision.Iteration, cause)
}

// beforeSuffix ends the name of a ref that keeps the work tree before a review.
const beforeSuffix = "-before"

// reportInterrupted reports once what an earlier runner kept and did not put back.
func (x *Executor) reportInterrupted(ctx context.Context, iteration int, cause event.Seq) {
	if x.searched {
		return
	}
	x.searched = true
	refs, err := keep.Unfinished(ctx, x.reviewDir(), x.reviewRefs(), beforeSuffix, x.cfg.Env...)
	if err != nil {
		return // keeping the work tree reports it
	}
	for _, ref := range refs {
		x.deliver(event.ReviewUndone{
			Ref: ref, Error: "ralph ended during a review, so what has changed since then is left as it is; the ref keeps the files as they were before that review",
		}, iteration, cause)
	}
}

// undoReview puts back what a reviewer may not change. It reports whether the review gives no
// verdict.
func (x *Executor) undoReview(ctx context.Context, spans policy.ToolSpans, cause event.Seq) (refused bool) {
	was := x.base
	if was == nil {
		return false
	}
	x.base = nil
	found := fmt.Sprintf("%sreview-%d", x.reviewRefs(), was.iteration)
	var whose policy.ReviewChanges
	undone, err := was.base.Undo(ctx, keep.Undo{
		Ref: found, Allowed: x.allowedInReview(),
		Mine: func(found []keep.Found) bool {
			changes := make([]policy.TreeChange, len(found))
			for i, f := range found {
				changes[i] = policy.TreeChange(f)
			}
			whose = spans.Sort(changes)
			return len(whose.Others) == 0
		},
		Message: fmt.Sprintf("Put back what the review of %s changed\n\nA review changes only tasks.json and progress.txt. What it changed is kept in\n%%s", was.story),
	})
	if ctx.Err() != nil && undone.Ref == "" {
		x.base = was // the check was cancelled: the next beginning does it
		return false
	}
	report := event.ReviewUndone{Story: was.story, Files: undone.Files, Commits: undone.Commits, Ref: undone.Ref}
	if undone.Stays {
		report.Files, report.Others, report.Commits, report.Refused = whose.Reviewer, firstFiles(whose.Others), 0, whose.Doubt
	}
	report.Files = firstFiles(report.Files)
	if err != nil {
		report.Error = err.Error()
		_, report.Partly = errors.AsType[*keep.SkippedError](err)
		report.Refused = !report.Partly
		report.Ref = cmp.Or(report.Ref, was.base.Ref)
	}
	if err == nil || undone.Ref != "" { // else it is the only one that keeps the files
		if dropped := was.base.Drop(ctx); dropped != nil && report.Error == "" && len(report.Files) > 0 {
			report.Error = dropped.Error()
		}
	}
	if len(report.Files) > 0 || len(report.Others) > 0 || report.Error != "" {
		x.deliver(report, was.iteration, cause)
	}
	return report.Refused
}

// filesShown is how many files an event names.
const filesShown = 50

func firstFiles(files []string) []string { return files[:min(filesShown, len(files))] }

func (x *Executor) reviewDir() string { return cmp.Or(x.cfg.WorkDir, x.cfg.Project) }

// allowedInReview returns which paths of the repository a reviewer may change, and those that ralph
// itself writes.
func (x *Executor) allowedInReview() func(string) bool {
	root, err := repo.WorkTree(x.reviewDir())
	if err != nil {
		root = x.reviewDir()
	}
	files := map[string]bool{}
	for _, name := range []string{plan.Path(x.cfg.Project, plan.Tasks), plan.Path(x.cfg.Project, plan.Progress), filepath.Join(x.cfg.Project, plan.Active)} {
		files[inRepository(root, name)] = true
	}
	own := []string{inRepository(root, x.cfg.Dir)}
	if x.cfg.Home != "" {
		own = append(own, inRepository(root, x.cfg.Home))
	}
	return func(name string) bool {
		return files[name] || slices.ContainsFunc(own, func(dir string) bool { return dir != "" && strings.HasPrefix(name, dir+"/") })
	}
}

// inRepository returns a path as git names it; empty if it is outside of the work tree. The root
// has no links in its path.
func inRepository(root, name string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(name))
	if err != nil {
		dir = filepath.Dir(name)
	}
	inside, err := filepath.Rel(root, filepath.Join(dir, filepath.Base(name)))
	if err != nil || !filepath.IsLocal(inside) {
		return ""
	}
	return filepath.ToSlash(inside)
}
