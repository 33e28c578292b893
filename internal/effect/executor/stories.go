package executor

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/story"
	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/effect/prompt"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/journal/event"
)

// A loop over the stories of ralph/tasks.json reads the file before an agent runs, and judges it
// after the agent has ended. If no check judged it (a limit ended the agent, or the runner died),
// the next beginning does, before it reads the file: until then, a change is the agent's.

// TasksError reports a tasks.json that no iteration can work with.
type TasksError struct {
	Problems []event.StoryProblem
}

func (e *TasksError) Error() string {
	var texts []string
	for i, p := range e.Problems {
		if i == problemsShown {
			texts = append(texts, fmt.Sprintf("and %d more", len(e.Problems)-i))
			break
		}
		texts = append(texts, p.Text)
	}
	return "ralph/tasks.json cannot be used: " + strings.Join(texts, "; ")
}

// problemsShown is how many problems an error names.
const problemsShown = 5

// Hint returns the next step.
func (e *TasksError) Hint() string {
	return "correct ralph/tasks.json, then resume the loop"
}

// CheckTasks returns the list of a tasks.json that an iteration can work with, else a *TasksError.
func CheckTasks(data []byte, rules story.Rules) (*story.List, error) {
	list, problems := story.Parse(data)
	if len(problems) > 0 {
		return nil, &TasksError{problems}
	}
	if _, next := list.Next(rules); next == nil && !list.Done(rules) {
		text := "it has no stories"
		if undone := list.Undone(rules); len(undone) > 0 {
			text = "no story can be worked on: " + strings.Join(undone, "; ")
		}
		return nil, &TasksError{[]event.StoryProblem{{Text: text}}}
	}
	return list, nil
}

// beginStories judges what an earlier agent left, reads tasks.json, and returns what the prompt
// says of it; nil if all stories are done, or if the iteration is not for the chosen agent.
func (x *Executor) beginStories(ctx context.Context, p promptPlan, cause event.Seq) (*prompt.Stories, error) {
	p.stories.NoVerdict = x.undoReview(ctx, p.spans, cause) || p.stories.NoVerdict
	rules, iteration := policy.StoryRules(p.rules), p.decision.Iteration
	problems := slices.Clone(p.stories.Problems)
	var verdicts []event.StoryReviewed
	if p.stories.AgentRan {
		found, err := x.judge(ctx, judgement{
			Judgement: policy.Judgement{Stories: p.stories, Rules: p.rules, Votes: p.votes, Voters: p.voters}, iteration: iteration, cut: true,
		}, cause)
		if err != nil {
			return nil, err
		}
		problems, verdicts = append(problems, found.problems...), found.verdicts
	} else {
		x.commitVerdict(ctx, p.stories.Commit, iteration, cause)
	}
	data, err := plan.ReadTasks(x.cfg.Project)
	if err != nil {
		return nil, &promptError{err}
	}
	list, err := CheckTasks(data, rules)
	if err != nil {
		return nil, &promptError{err}
	}
	blob, err := x.cfg.Blob(data)
	if err != nil {
		return nil, fmt.Errorf("store tasks.json: %w", err)
	}
	mode, next := list.Next(rules)
	read := event.StoriesRead{Mode: mode, File: blob, Stories: list.States(), Done: next == nil && !p.stories.Refused}
	if next != nil {
		read.Story, read.Base = next.ID, x.baseOf(next.ID, mode, p.stories)
	}
	read.Other = !read.Done && policy.IsForOther(p.rules, p.decision.Agent, mode, verdicts)
	x.deliver(read, iteration, cause)
	if read.Done || read.Other {
		return nil, nil
	}
	x.keepBase(ctx, p, mode, read.Story, cause)
	if err := x.mark(p, read); err != nil {
		return nil, err
	}
	x.before = data
	x.prd, _ = plan.Read(x.cfg.Project, plan.PRD) // a person may have left it out
	return x.storiesPrompt(p, read, next, problems), nil
}

// baseOf returns the commit that the work on a story began at; empty if it is not known.
func (x *Executor) baseOf(id string, mode event.StoryMode, s policy.Stories) string {
	if base, known := s.Bases[id]; known || mode != event.ModeImplement {
		return base
	}
	return x.head()
}

// head returns HEAD of the project's repository as it was when the iteration began; empty if it is
// not known.
func (x *Executor) head() string {
	best := ""
	for root := range x.heads {
		if inside, err := filepath.Rel(root, x.cfg.Project); err == nil && filepath.IsLocal(inside) && len(root) > len(best) {
			best = root
		}
	}
	return x.heads[best].commit
}

// mark writes the marker for the hooks of the agent. The loop itself never believes it.
func (x *Executor) mark(p promptPlan, read event.StoriesRead) error {
	return plan.WriteMarker(x.cfg.Project, plan.Marker{
		Timestamp: time.Now(), PID: os.Getpid(), MaxIterations: p.rules.MaximumIterations, Mode: plan.ModeDirect,
		SkipReview: p.rules.Review.Skip, ReviewCap: p.rules.Review.Cap, IterationMode: read.Mode,
		PreIterationSnapshot: plan.SnapshotOf(read.Stories),
		Loop:                 filepath.Base(x.cfg.Dir), Dir: x.cfg.Dir, Story: read.Story,
	})
}

// storiesPrompt returns what the prompt says of the stories. next is nil if all are done, and
// something else is missing.
func (x *Executor) storiesPrompt(p promptPlan, read event.StoriesRead, next *story.Story, problems []event.StoryProblem) *prompt.Stories {
	folder := x.planFolder()
	s := &prompt.Stories{
		Mode: read.Mode, Tasks: path.Join(folder, plan.Tasks), PRD: path.Join(folder, plan.PRD), Progress: path.Join(folder, plan.Progress),
		Base: read.Base, Head: x.head(), SkipReview: p.rules.Review.Skip, Cap: p.rules.Review.Cap, MayEdit: p.rules.Review.MayEdit,
	}
	// A person may have no prompt.md; one that cannot be read adds nothing.
	if extra, err := plan.Read(x.cfg.Project, plan.Prompt); err == nil {
		s.Extra = plan.Additions(string(extra), p.parts.Iteration, p.parts.Of)
	}
	for _, problem := range problems {
		s.Problems = append(s.Problems, problem.Text)
	}
	if next != nil {
		s.Story = &prompt.Story{
			ID: next.ID, Title: next.Title, Description: next.Description, Criteria: next.AcceptanceCriteria,
			Feedback: next.ReviewFeedback, Count: next.ReviewCount,
		}
		s.AtCap = next.ReviewCount+1 >= p.rules.Review.Cap
		s.OtherModel = policy.IsReviewer(p.rules, p.decision.Agent)
	}
	return s
}

// planFolder returns the name of the plan's folder in the prompt.
func (x *Executor) planFolder() string {
	dir := plan.Dir(x.cfg.Project)
	if name, err := filepath.Rel(cmp.Or(x.cfg.WorkDir, x.cfg.Project), dir); err == nil {
		return filepath.ToSlash(name)
	}
	return filepath.ToSlash(dir)
}

// checkStories judges tasks.json after a turn, if an agent ran. finished says that all stories are
// done.
func (x *Executor) checkStories(ctx context.Context, d event.Decided, p checkPlan, cause event.Seq) (finished bool, err error) {
	if !p.rules.Stories || !p.stories.AgentRan {
		return false, nil
	}
	found, err := x.judge(ctx, judgement{
		Judgement: policy.Judgement{Stories: p.stories, Rules: p.rules, Votes: p.votes, Voters: p.voters}, iteration: d.Iteration, cut: d.Only == onlyInspect,
	}, cause)
	if err != nil {
		return false, err
	}
	return found.list.Done(policy.StoryRules(p.rules)), nil
}

// judgement is what tasks.json is judged by.
type judgement struct {
	policy.Judgement
	iteration int
	cut       bool // the turn did not come to its end, so what is missing is no problem
}

// judged is what a judgement came to.
type judged struct {
	problems []event.StoryProblem
	list     *story.List
	verdicts []event.StoryReviewed // that were not recorded before
}

// judge compares tasks.json with what it was before the agent ran, records what it finds, and then
// puts back what the agent may not change. If the runner dies in between, the next one does it
// again.
func (x *Executor) judge(ctx context.Context, j judgement, cause event.Seq) (judged, error) {
	before, err := x.tasksBefore(j.Stories)
	if err != nil {
		return judged{}, err
	}
	found, err := x.foundTasks()
	if err != nil {
		return judged{}, err
	}
	rules := policy.StoryRules(j.Rules)
	if base, known := j.Stories.Bases[j.Stories.Story]; known && j.Rules.Limits.Diff > 0 && j.Stories.Mode != event.ModeReview {
		if size := x.size(ctx, x.cfg.Project, base); size != nil {
			rules.Worked, rules.Oversized = j.Stories.Story, policy.OversizedStory(*size, j.Rules)
		}
	}
	data, problems, restored := story.Repair(found, before, j.Stories.Mode, rules)
	verdicts, data, err := j.Verdicts(before, data)
	if err != nil {
		return judged{}, err
	}
	if j.cut {
		problems = slices.DeleteFunc(problems, func(p event.StoryProblem) bool { return !p.Undone })
	}
	problems = append(problems, x.prdProblem()...)
	list, err := CheckTasks(data, rules)
	if err != nil {
		return judged{}, &promptError{err}
	}
	report := event.StoriesJudged{Mode: j.Stories.Mode, Stories: list.States(), Problems: problems, Restored: restored}
	var drafts []event.Draft
	for _, verdict := range verdicts {
		drafts = append(drafts, draft(verdict, j.iteration, cause))
	}
	if len(verdicts) > 0 && !bytes.Equal(found, data) && x.agentCommitted(ctx) {
		report.Commit = &event.StoriesCommit{Message: verdictMessage(verdicts[0]), SHA256: sumOf(data)}
	}
	if err := x.putBack(found, data, report, drafts, j.iteration, cause); err != nil {
		return judged{}, err
	}
	// If a runner died before it recorded its commit, this one finds or makes it.
	x.commitVerdict(ctx, cmp.Or(report.Commit, j.Stories.Commit), j.iteration, cause)
	return judged{problems, list, verdicts}, nil
}

// agentCommitted reports whether the agent commits tasks.json itself, so that what ralph changes in
// it would be left in the work tree.
func (x *Executor) agentCommitted(ctx context.Context) bool {
	if slices.ContainsFunc(x.cfg.SCM.Tasks, isCommit) {
		return false // the commit of the iteration has it
	}
	changed, err := repo.Uncommitted(ctx, x.cfg.Project, plan.Path(x.cfg.Project, plan.Tasks), x.cfg.Env...)
	return err == nil && !changed
}

func verdictMessage(v event.StoryReviewed) string {
	verdict := "changes requested"
	switch {
	case v.AtCap:
		verdict = "approved, as review.cap was reached"
	case v.Approved:
		verdict = "approved"
	}
	return fmt.Sprintf("Review %d of %s: %s", v.Count, v.Story, verdict)
}

// commitVerdict commits a verdict that ralph wrote to tasks.json, which is in the journal already,
// and may be called again for it. If that fails, for example in a merge that is not finished, the
// file stays as it is; so it does if it has changed since.
func (x *Executor) commitVerdict(ctx context.Context, c *event.StoriesCommit, iteration int, cause event.Seq) {
	if c == nil {
		return
	}
	if now, err := x.foundTasks(); err != nil || sumOf(now) != c.SHA256 {
		return
	}
	sha, stat, err := repo.CommitFile(ctx, x.cfg.Project, plan.Path(x.cfg.Project, plan.Tasks), c.Message, x.cfg.Env...)
	if err == nil {
		x.deliver(event.RepoCommitted{SHA: sha, Message: c.Message, Files: stat.Files, Insertions: stat.Insertions,
			Deletions: stat.Deletions, Warning: x.note(ctx, x.cfg.Project, iteration, cause, sha)}, iteration, cause)
	}
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// putBack records a judgement, with the file that was found if it is not what the file has to be,
// and then writes that. More events are recorded with the judgement.
func (x *Executor) putBack(found, data []byte, judged event.StoriesJudged, more []event.Draft, iteration int, cause event.Seq) error {
	same := found != nil && bytes.Equal(found, data)
	if found != nil && !same {
		blob, err := x.cfg.Blob(found)
		if err != nil {
			return fmt.Errorf("store tasks.json: %w", err)
		}
		judged.Found = &blob
	}
	recorded := make(chan struct{})
	x.cfg.Deliver(append([]event.Draft{draft(judged, iteration, cause)}, more...), func() { close(recorded) })
	<-recorded // else a crash could lose what was found
	x.judged = data
	if same {
		return nil
	}
	return x.writeTasks(data)
}

// checkStoriesAgain puts tasks.json back if it changed while the guardrails ran. They may be
// scripts of the agent's, and a change after the iteration would count as a person's.
func (x *Executor) checkStoriesAgain(d event.Decided, p checkPlan, cause event.Seq) error {
	if x.judged == nil {
		return nil
	}
	found, err := x.foundTasks()
	if err != nil || found != nil && bytes.Equal(found, x.judged) {
		return err
	}
	list, err := CheckTasks(x.judged, policy.StoryRules(p.rules))
	if err != nil {
		return &promptError{err}
	}
	return x.putBack(found, x.judged, event.StoriesJudged{
		Mode: p.stories.Mode, Stories: list.States(), Restored: found == nil,
		Problems: []event.StoryProblem{{Text: "tasks.json was changed while the guardrails ran: it is put back, since no guardrail may change it", Undone: true}},
	}, nil, d.Iteration, cause)
}

// tasksBefore returns tasks.json as it was before the agent ran.
func (x *Executor) tasksBefore(s policy.Stories) ([]byte, error) {
	if x.before != nil {
		return x.before, nil
	}
	text, err := x.fullText(s.File)
	if err != nil {
		return nil, fmt.Errorf("read tasks.json as it was before: %w", err)
	}
	return []byte(text), nil
}

// foundTasks returns tasks.json as the agent left it; nil if there is no file that can be read.
func (x *Executor) foundTasks() ([]byte, error) {
	found, err := plan.ReadTasks(x.cfg.Project)
	_, other := errors.AsType[*safefile.Error](err) // a folder, a link, or a file without end
	if errors.Is(err, fs.ErrNotExist) || other {
		return nil, nil
	}
	return found, err
}

// writeTasks replaces tasks.json. The agent may have removed its folder, or made a folder of it.
func (x *Executor) writeTasks(data []byte) error {
	name := plan.Path(x.cfg.Project, plan.Tasks)
	if info, err := os.Lstat(name); err == nil && info.IsDir() {
		if err := safefile.Move(name, name+".folder-"+time.Now().UTC().Format("20060102T150405")); err != nil {
			return fmt.Errorf("move the folder in the place of tasks.json: %w", err)
		}
	}
	if err := os.MkdirAll(plan.Dir(x.cfg.Project), 0o755); err != nil {
		return fmt.Errorf("write tasks.json: %w", err)
	}
	// It has to be durable before the check is recorded: else, after a loss of power, the next
	// runner would take what the agent left for a person's.
	return plan.WriteTasks(x.cfg.Project, data)
}

// prdProblem reports that prd.md has changed since the agent started. It is not put back, because a
// person may have changed it meanwhile.
func (x *Executor) prdProblem() []event.StoryProblem {
	if x.prd == nil {
		return nil
	}
	now, err := plan.Read(x.cfg.Project, plan.PRD)
	if err == nil && bytes.Equal(now, x.prd) {
		return nil
	}
	x.prd = nil // once is enough
	return []event.StoryProblem{{Field: plan.PRD, Text: "ralph/prd.md was changed during the iteration; it is read-only: if it was you, put it back as it was"}}
}
