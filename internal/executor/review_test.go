package executor

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
)

// reviewer is an executor in a repository of its own.
func reviewer(t *testing.T, shared bool) (x *Executor, project string, undone *[]event.ReviewUndone) {
	t.Helper()
	project, undone = t.TempDir(), &[]event.ReviewUndone{}
	x = &Executor{cfg: Config{
		Project: project, Dir: filepath.Join(project, ".ralph", "demo"), Shared: shared,
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

func put(t *testing.T, project, name, text string) {
	t.Helper()
	path := filepath.Join(project, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
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
			x.undoReview(t.Context(), 0)
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
	x.undoReview(t.Context(), 0)
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
	x.undoReview(t.Context(), 0)
	if text, err := os.ReadFile(filepath.Join(project, "state/registry/other")); err != nil || string(text) != "two\n" || len(*undone) > 0 {
		t.Errorf("%q, %v, %+v", text, err, *undone)
	}
}

func TestImplementersMayChangeEverything(t *testing.T) {
	x, project, undone := reviewer(t, true)
	x.keepBase(t.Context(), promptPlan{decision: event.Decided{Iteration: 1}}, event.ModeImplement, "US-1", 0)
	mayEdit := event.Rules{Review: event.ReviewRules{MayEdit: true}}
	x.keepBase(t.Context(), promptPlan{decision: event.Decided{Iteration: 2}, rules: mayEdit}, event.ModeReview, "US-1", 0)
	put(t, project, "code", "edited\n")
	x.undoReview(t.Context(), 0)
	if len(*undone) > 0 || x.base != nil {
		t.Errorf("%+v", *undone)
	}
}
