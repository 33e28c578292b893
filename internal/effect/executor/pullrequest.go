package executor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/story"
	"github.com/ralph-loop/ralph/internal/effect/forge"
	"github.com/ralph-loop/ralph/internal/effect/guardrail"
	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/effect/task"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Bounds of ralph's part of a pull request's text.
const (
	maxSubjects = 50
	maxResults  = 50
	maxStories  = 100
	maxCommand  = 200 // characters of a guardrail's command
)

// commitPlan is the part of the state that a commit needs.
type commitPlan struct {
	decision event.Decided
	limit    int                 // limits.diff
	was      *policy.PullRequest // of the branch, as it was published last
}

// published is what the task pr made or changed.
type published struct {
	url string
	all []event.StackedRequest // where there are several
}

// scmTasks runs the tasks of version control in order and stops at the first that fails.
func (x *Executor) scmTasks(ctx context.Context, p commitPlan, message string) (all repo.Result, made published, err error) {
	groups := taskGroups(x.cfg.SCM)
	var refused error
	if x.cfg.SCM.Publishes() && repo.OnDefaultBranch(ctx, x.cfg.Project, x.cfg.Env...) {
		// To push would give the work to all others before any of them could review it.
		refused = forge.RefuseBranch(repo.Branch(ctx, x.cfg.Project))
		groups = [][]string{groups[0][:slices.IndexFunc(groups[0], config.IsPush)]}
	}
	for _, group := range groups {
		if len(group) == 0 {
			continue
		}
		if group[0] == config.TaskPullRequest {
			var failed error
			switch made, failed = x.publish(ctx, p); {
			case failed == nil:
				all.Done = append(all.Done, group[0])
			case errors.Is(failed, forge.ErrNoChanges):
				all.Skipped = append(all.Skipped, group[0])
			default:
				return all, made, failed
			}
			continue
		}
		result, err := x.runTasks(ctx, group, message)
		done, skipped, nothing := slices.Concat(all.Done, result.Done), slices.Concat(all.Skipped, result.Skipped), all.Nothing || result.Nothing
		result.New, result.Left = slices.Concat(all.New, result.New), slices.Concat(all.Left, result.Left)
		if !result.Committed {
			result.Committed, result.SHA, result.Message, result.Stat = all.Committed, all.SHA, all.Message, all.Stat
		}
		all = result
		all.Done, all.Skipped, all.Nothing = done, skipped, nothing
		if err != nil {
			return all, made, err
		}
	}
	return all, made, refused
}

// taskGroups separates the task pr from those that the program of version control runs.
func taskGroups(scm config.SCM) (groups [][]string) {
	if !scm.Publishes() {
		return [][]string{scm.Tasks}
	}
	var group []string
	for _, t := range scm.Tasks {
		if t != config.TaskPullRequest {
			group = append(group, t)
			continue
		}
		if len(group) > 0 {
			groups = append(groups, group)
		}
		groups, group = append(groups, []string{t}), nil
	}
	if len(group) > 0 {
		groups = append(groups, group)
	}
	return groups
}

// publish makes or changes the pull request of the branch, or those of its parts.
func (x *Executor) publish(ctx context.Context, p commitPlan) (made published, err error) {
	branch := repo.Branch(ctx, x.cfg.Project)
	if branch == "" {
		return made, &repo.Error{Doing: "make a pull request", Err: repo.ErrNoBranch}
	}
	last := join(storySection(x.planned()), x.guardrailSection(), fmt.Sprintf("Loop `%s`, after iteration %d.", filepath.Base(x.cfg.Dir), p.decision.Iteration))
	at := forge.Place{Dir: x.cfg.Project, Env: x.cfg.Env, Remotes: repo.Remotes(ctx, x.cfg.Project, x.cfg.Env...)}
	if made.all, err = x.publishStack(ctx, at, branch, p, last); err != nil || len(made.all) > 0 {
		made.url = firstOpen(made.all)
		return made, err
	}
	title, body, err := x.pullRequestText(ctx, branch)
	if err != nil {
		return made, fmt.Errorf("make a pull request: %w", err)
	}
	r, err := at.Publish(ctx, forge.Draft{Branch: branch, Title: x.masked(title), Body: x.masked(join(body, last)), Draft: x.cfg.SCM.Draft})
	made.url = r.URL
	return made, err
}

// pullRequestText returns the title and the text that the agent wrote, or else what the commits
// say. What the agent left in the place of its file is no reason to keep the work back.
func (x *Executor) pullRequestText(ctx context.Context, branch string) (title, body string, err error) {
	title, body, err = task.ReadPullRequest(x.cfg.Dir)
	if title != "" && err == nil {
		return title, body, nil
	}
	if list := x.planned(); list != nil {
		if title = units.FirstLine(strings.TrimSpace(list.Description)); title != "" {
			return title, "", nil
		}
	}
	subjects, err := repo.Subjects(ctx, x.cfg.Project, maxSubjects, x.cfg.Env...)
	if err != nil {
		return "", "", err
	}
	title = strings.ReplaceAll(branch, "-", " ")
	if len(subjects) > 0 {
		title = subjects[0]
	}
	if len(subjects) > 1 {
		body = "- " + strings.Join(subjects, "\n- ")
	}
	return title, body, nil
}

// planned returns the stories that the loop works on; nil if it works on none.
func (x *Executor) planned() *story.List {
	if x.before == nil {
		return nil
	}
	data, err := plan.ReadTasks(x.cfg.Project)
	if err != nil {
		return nil
	}
	list, problems := story.Parse(data)
	if len(problems) > 0 {
		return nil
	}
	return list
}

// storySection lists the stories of a plan as Markdown, and which are done.
func storySection(list *story.List) string {
	if list == nil || len(list.Stories) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("## Stories\n\n")
	for _, s := range list.Stories[:min(len(list.Stories), maxStories)] {
		box := " "
		if s.Passes {
			box = "x"
		}
		fmt.Fprintf(&b, "- [%s] %s: %s\n", box, oneLine(s.ID), units.Cut(oneLine(s.Title), maxCommand))
	}
	if more := len(list.Stories) - maxStories; more > 0 {
		fmt.Fprintf(&b, "\n%d more are not listed.\n", more)
	}
	return b.String()
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// guardrailSection reports the guardrails of the last check as Markdown.
func (x *Executor) guardrailSection() string {
	if len(x.results.last) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("## Guardrails\n\n| command | result |\n|---|---|\n")
	for _, r := range x.results.last[:min(len(x.results.last), maxResults)] {
		result := "failed"
		if r.OK {
			result = "passed"
		}
		command := strings.NewReplacer("`", "'", "|", `\|`).Replace(oneLine(r.Guardrail.Command))
		fmt.Fprintf(&b, "| `%s` | %s in %s |\n", units.Cut(command, maxCommand), result, units.Took(r.Took.Round(time.Millisecond)))
	}
	if more := len(x.results.last) - maxResults; more > 0 {
		fmt.Fprintf(&b, "\n%d more ran.\n", more)
	}
	return b.String()
}

// keepResult keeps the result of a guardrail for the pull request.
func (x *Executor) keepResult(r guardrail.Result) { x.results.last = append(x.results.last, r) }

// guardResults are what guardrails came to.
type guardResults struct {
	last    []guardrail.Result // of the last check
	commits map[string]string  // what fails on a commit, empty for nothing; see stack
}

// masked hides secrets: what is published or journaled is read by others.
func (x *Executor) masked(text string) string {
	if x.cfg.Secrets == nil {
		return text
	}
	masked, _ := x.cfg.Secrets.Text([]byte(text))
	return string(masked)
}

// join separates the parts that have words by empty lines.
func join(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(part string) bool { return strings.TrimSpace(part) == "" })
	for i, part := range parts {
		parts[i] = strings.TrimSpace(part)
	}
	return strings.Join(parts, "\n\n")
}
