package executor

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/story"
	"github.com/ralph-loop/ralph/journal/event"
)

// tasks is a file with one story.
func tasks(status string, passes bool, count, feedback string) []byte {
	return []byte(`{"project": "p", "branchName": "", "description": "d", "verifyCommands": [], "userStories": [
  {"id": "US-1", "title": "t", "description": "", "acceptanceCriteria": ["c"], "priority": 1, "passes": ` + map[bool]string{true: "true", false: "false"}[passes] +
		`, "reviewStatus": "` + status + `", "reviewCount": ` + count + `, "reviewFeedback": "` + feedback + `", "notes": "n", "dependsOn": []}]}`)
}

// A round of two reviewers: what each verdict leaves in the file.
func TestVerdictsOfOneRound(t *testing.T) {
	before := tasks("needs_review", false, "1", "")
	approves := tasks("approved", true, "2", "")
	wants := tasks("changes_requested", false, "2", "no test")
	atCap := tasks("approved", true, "2", story.CapPrefix+" no test")
	ann := policy.Vote{Agent: "ann", Approved: true}
	for name, row := range map[string]struct {
		found  []byte
		given  []policy.Vote
		cap    int
		left   []byte
		last   event.StoryReviewed
		events int
	}{
		"the first approves":   {approves, nil, 5, before, event.StoryReviewed{Story: "US-1", Agent: "bob", Approved: true, Count: 1, Open: true}, 1},
		"the first wants more": {wants, nil, 5, tasks("changes_requested", false, "2", `bob: no test`), event.StoryReviewed{Story: "US-1", Feedback: "bob: no test", Count: 2}, 2},
		"both approve":         {approves, []policy.Vote{ann}, 5, approves, event.StoryReviewed{Story: "US-1", Approved: true, Count: 2}, 2},
		"one at the cap": {atCap, []policy.Vote{ann}, 2, tasks("approved", true, "2", story.CapPrefix+" bob: no test"),
			event.StoryReviewed{Story: "US-1", Approved: true, AtCap: true, Feedback: story.CapPrefix + " bob: no test", Count: 2}, 2},
	} {
		j := judgement{
			stories: policy.Stories{Mode: event.ModeReview}, voters: 2,
			rules: event.Rules{Reviewers: 2, Review: event.ReviewRules{Cap: row.cap, Vote: "all"}},
			votes: policy.Votes{Story: "US-1", Count: 1, Given: row.given, Agent: "bob"},
		}
		verdicts, data, err := j.verdicts(before, row.found)
		if err != nil || len(verdicts) != row.events || string(data) != string(row.left) {
			t.Errorf("%s: %v, %+v\n%s\nwant\n%s", name, err, verdicts, data, row.left)
			continue
		}
		if last := verdicts[len(verdicts)-1]; last != row.last {
			t.Errorf("%s: %+v, want %+v", name, last, row.last)
		}
	}
}

// One reviewer's verdict is as the file says, and is recorded once.
func TestVerdictOfOneReviewer(t *testing.T) {
	j := judgement{
		stories: policy.Stories{Mode: event.ModeReview}, rules: event.Rules{Reviewers: 1, Review: event.ReviewRules{Cap: 5}}, votes: policy.Votes{Agent: "ann"},
	}
	verdicts, data, err := j.verdicts(tasks("needs_review", false, "0", ""), tasks("approved", true, "1", ""))
	want := event.StoryReviewed{Story: "US-1", Agent: "ann", Approved: true, Count: 1}
	if err != nil || len(verdicts) != 1 || verdicts[0] != want || string(data) != string(tasks("approved", true, "1", "")) {
		t.Errorf("%+v, %v", verdicts, err)
	}
	j.stories.States = []event.StoryState{{ID: "US-1", ReviewCount: 1}}
	if again, _, _ := j.verdicts(tasks("needs_review", false, "0", ""), tasks("approved", true, "1", "")); len(again) > 0 {
		t.Errorf("again: %+v", again)
	}
}

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
