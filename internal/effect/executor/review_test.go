package executor

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/journal/event"
)

// reviewer is an executor in a repository of its own.
func reviewer(t *testing.T, shared bool) (x *Executor, project string, undone *[]event.ReviewUndone) {
	t.Helper()
	project, undone = t.TempDir(), &[]event.ReviewUndone{}
	x = &Executor{cfg: Config{
		Project: project, Dir: filepath.Join(project, ".ralph", "demo"), ID: "demo", Shared: shared,
		Env: append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1"),
		Deliver: func(drafts []event.Draft, release func()) {
			for _, d := range drafts {
				var p event.ReviewUndone
				if err := json.Unmarshal(d.Data, &p); err != nil {
					t.Error(err)
				}
				*undone = append(*undone, p)
			}
			release()
		},
	}}
	put(t, project, "ralph/tasks.json", "{}\n")
	put(t, project, "code", "one\n")
	return x, project, undone
}

// always are the spans of a reviewer whose tools ran all the time.
var always = policy.ToolSpans{Review: true, Shown: true, Spans: []policy.ToolSpan{{To: time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC)}}}

func put(t *testing.T, project, name, text string) {
	t.Helper()
	path := filepath.Join(project, name)
	testfile.Write(t, path, text)
}

func (x *Executor) beginReview(t *testing.T, n int) {
	t.Helper()
	x.keepBase(t.Context(), promptPlan{decision: event.Decided{Iteration: n}}, event.ModeReview, "US-1", 0)
}

func TestReviewWithoutUndoSaysWhy(t *testing.T) {
	for name, row := range map[string]struct {
		shared bool
		want   string
	}{
		"no repository":      {false, "not inside a git working tree"},
		"a shared work tree": {true, "allowSharedWorktree"},
	} {
		x, project, undone := reviewer(t, row.shared)
		for n := range 2 {
			x.beginReview(t, n+1)
			put(t, project, "code", "edited\n")
			x.undoReview(t.Context(), always, 0)
		}
		if len(*undone) != 1 || !strings.Contains((*undone)[0].Error, row.want) || (*undone)[0].Story != "US-1" {
			t.Errorf("%s: %+v", name, *undone)
		}
	}
}

// What an earlier runner did not put back is reported once, and left.
func TestInterruptedReviewIsReported(t *testing.T) {
	x, project, undone := reviewer(t, false)
	if out, err := exec.CommandContext(t.Context(), "git", "-C", project, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	x.beginReview(t, 1)
	put(t, project, "code", "edited\n")
	put(t, project, "ralph/tasks.json", "{ }\n")
	for range 2 { // two more runners
		x = &Executor{cfg: x.cfg}
		x.keepBase(t.Context(), promptPlan{decision: event.Decided{Iteration: 2}}, event.ModeImplement, "US-1", 0)
	}
	if len(*undone) != 1 || (*undone)[0].Ref != "refs/ralph/demo/review-1" || !strings.Contains((*undone)[0].Error, "left as it is") {
		t.Fatalf("%+v", *undone)
	}
	if text, err := os.ReadFile(filepath.Join(project, "code")); err != nil || string(text) != "edited\n" {
		t.Errorf("%q, %v", text, err)
	}
	// The next review is undone as always, and has a name of its own.
	x.beginReview(t, 3)
	put(t, project, "code", "edited again\n")
	x.undoReview(t.Context(), always, 0)
	if text, err := os.ReadFile(filepath.Join(project, "code")); err != nil || string(text) != "edited\n" {
		t.Errorf("%q, %v", text, err)
	}
	last := (*undone)[len(*undone)-1]
	if len(*undone) != 2 || last.Ref != "refs/ralph/demo/review-3" || len(last.Files) != 1 || last.Error != "" {
		t.Errorf("%+v", *undone)
	}
}

// ralph's own files, such as those of other loops, may be in the repository.
func TestReviewLeavesRalphsHome(t *testing.T) {
	x, project, undone := reviewer(t, false)
	if out, err := exec.CommandContext(t.Context(), "git", "-C", project, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	x.cfg.Home = filepath.Join(project, "state")
	put(t, project, "state/registry/other", "one\n")
	x.beginReview(t, 1)
	put(t, project, "state/registry/other", "two\n")
	put(t, project, "state/registry/new", "new\n")
	x.undoReview(t.Context(), always, 0)
	if text, err := os.ReadFile(filepath.Join(project, "state/registry/other")); err != nil || string(text) != "two\n" || len(*undone) > 0 {
		t.Errorf("%q, %v, %+v", text, err, *undone)
	}
}

// What a person may have changed stays, and where it cannot be separated from what the reviewer
// changed, so does that.
func TestReviewLeavesAPersonsChanges(t *testing.T) {
	early := always
	early.Spans = []policy.ToolSpan{{To: time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)}}
	hidden := always
	hidden.Shown = false
	for name, row := range map[string]struct {
		spans policy.ToolSpans
		edit  func(project string)
		want  event.ReviewUndone
	}{
		"no tool ran": {early, func(string) {}, event.ReviewUndone{Story: "US-1", Others: []string{"code", "new"}}},
		"it is not known whether a tool ran": {
			hidden, func(string) {}, event.ReviewUndone{Story: "US-1", Others: []string{"code", "new"}, Refused: true},
		},
		"another author committed": {always, func(project string) {
			git(t, project, "add", "code")
			git(t, project, "-c", "user.name=Bob", "commit", "-qm", "theirs")
		}, event.ReviewUndone{Story: "US-1", Files: []string{"code", "new"}, Others: []string{"code"}, Refused: true}},
		"another branch is checked out": {always, func(project string) { git(t, project, "checkout", "-qb", "other") }, event.ReviewUndone{
			Story: "US-1", Files: []string{"code", "new"}, Ref: "refs/ralph/demo/review-1-before", Refused: true,
			Error: "put the work tree back: another branch is checked out: other instead of main",
		}},
	} {
		x, project, undone := reviewer(t, false)
		git(t, project, "init", "-q", "-b", "main")
		git(t, project, "config", "user.name", "Ada")
		git(t, project, "config", "user.email", "ada@example.org")
		git(t, project, "add", "-A")
		git(t, project, "commit", "-qm", "start")
		x.beginReview(t, 1)
		put(t, project, "code", "edited\n")
		put(t, project, "new", "new\n")
		row.edit(project)
		refused := x.undoReview(t.Context(), row.spans, 0)
		if text, err := os.ReadFile(filepath.Join(project, "code")); err != nil || string(text) != "edited\n" {
			t.Errorf("%s: code has %q, %v", name, text, err)
		}
		if diff := cmp.Diff([]event.ReviewUndone{row.want}, *undone); diff != "" || refused != row.want.Refused {
			t.Errorf("%s: refused %v\n%s", name, refused, diff)
		}
	}
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func TestImplementersMayChangeEverything(t *testing.T) {
	x, project, undone := reviewer(t, true)
	x.keepBase(t.Context(), promptPlan{decision: event.Decided{Iteration: 1}}, event.ModeImplement, "US-1", 0)
	mayEdit := event.Rules{Review: event.ReviewRules{MayEdit: true}}
	x.keepBase(t.Context(), promptPlan{decision: event.Decided{Iteration: 2}, rules: mayEdit}, event.ModeReview, "US-1", 0)
	put(t, project, "code", "edited\n")
	x.undoReview(t.Context(), always, 0)
	if len(*undone) > 0 || x.base != nil {
		t.Errorf("%+v", *undone)
	}
}
