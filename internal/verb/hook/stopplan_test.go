package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/story"
	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/journal/event"
)

// A one is a story as a test needs it: the fields that a case is about.
type one struct {
	ID       string
	Passes   bool
	Status   event.StoryStatus
	Count    int
	Feedback string
}

func (o one) entry() string {
	status := "null"
	if o.Status != "" {
		status = strconv.Quote(string(o.Status))
	}
	return fmt.Sprintf(`
    {
      "id": %q, "title": "Title", "description": "", "acceptanceCriteria": ["it works"], "priority": 1, "passes": %t,
      "reviewStatus": %s, "reviewCount": %d, "reviewFeedback": %q, "notes": "done", "dependsOn": []
    }`, o.ID, o.Passes, status, o.Count, o.Feedback)
}

func (o one) story() story.Story {
	return story.Story{ID: o.ID, Priority: 1, Passes: o.Passes, ReviewStatus: o.Status, ReviewCount: o.Count, ReviewFeedback: o.Feedback}
}

func tasksOf(stories ...one) string {
	var entries []string
	for _, o := range stories {
		entries = append(entries, o.entry())
	}
	return `{"project": "p", "branchName": "ralph/p", "description": "d", "verifyCommands": [], "userStories": [` + strings.Join(entries, ",") + "\n]}\n"
}

func snapshotOf(stories ...one) map[string]plan.Snapshot {
	var states []event.StoryState
	for _, o := range stories {
		s := o.story()
		states = append(states, s.State())
	}
	return plan.SnapshotOf(states)
}

// bothAgents runs a test with the shapes of both agents.
func bothAgents(t *testing.T, do func(t *testing.T, w *world)) {
	t.Helper()
	for _, codex := range []bool{false, true} {
		t.Run(map[bool]string{false: "claude", true: "codex"}[codex], func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.codex = codex
			do(t, w)
		})
	}
}

func TestSchemaOfTasks(t *testing.T) {
	t.Parallel()
	valid := tasksOf(one{ID: "US-001"})
	shared := newWorld(t).live()
	shared.mark(plan.Marker{})
	for name, c := range map[string]struct{ tasks, want string }{
		"valid":             {valid, ""},
		"no JSON":           {"{", "not valid"},
		"missing field":     {strings.Replace(valid, `"title": "Title"`, `"x": 1`, 1), "title"},
		"no criteria":       {strings.Replace(valid, `"it works"`, "", 1), "acceptanceCriteria"},
		"passes as a text":  {strings.Replace(valid, `"passes": false`, `"passes": "no"`, 1), "passes"},
		"unknown status":    {strings.Replace(valid, `"reviewStatus": null`, `"reviewStatus": "fine"`, 1), "reviewStatus"},
		"negative count":    {strings.Replace(valid, `"reviewCount": 0`, `"reviewCount": -1`, 1), "reviewCount"},
		"two of one id":     {tasksOf(one{ID: "US-001"}, one{ID: "US-001"}), "same id"},
		"no branch":         {strings.Replace(valid, `"branchName"`, `"branch"`, 1), "branchName"},
		"passes, no notes":  {strings.Replace(tasksOf(one{ID: "US-001", Passes: true, Status: event.StoryApproved, Count: 1}), `"done"`, `""`, 1), "notes"},
		"a file of nothing": {"", "not valid"},
	} {
		t.Run(name, func(t *testing.T) {
			w := shared.in(t)
			w.write("ralph/tasks.json", c.tasks)
			checkBlocked(t, w.stop(nil), c.want)
		})
	}
}

// checkBlocked compares an answer: blocked with the text in its reason, or not blocked if that is
// empty.
func checkBlocked(t *testing.T, got output, want string) {
	t.Helper()
	switch {
	case want == "" && got.Decision != "":
		t.Errorf("blocked: %s", got.Reason)
	case want != "" && got.Decision != "block":
		t.Errorf("not blocked, want %q", want)
	case !strings.Contains(got.Reason, want):
		t.Errorf("reason %q, want %q", got.Reason, want)
	}
}

func TestMissingTasksBlock(t *testing.T) {
	w := newWorld(t).live()
	w.mark(plan.Marker{})
	checkBlocked(t, w.stop(nil), "tasks.json is gone")
	if err := os.MkdirAll(filepath.Join(w.project, "ralph", "tasks.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	checkBlocked(t, w.stop(nil), "is a folder")
}

// The cases of check 2: what the fields of a story may not contradict, without a snapshot.
func TestReviewIntegrity(t *testing.T) {
	t.Parallel()
	shared := newWorld(t).live()
	for name, c := range map[string]struct {
		story one
		skip  bool
		want  string
	}{
		"passes and null":                    {one{Passes: true}, false, "approved"},
		"passes and needs_review":            {one{Passes: true, Status: event.StoryNeedsReview}, false, "approved"},
		"passes and changes_requested":       {one{Passes: true, Status: event.StoryChangesRequested, Feedback: "f"}, false, "approved"},
		"passes and approved":                {one{Passes: true, Status: event.StoryApproved, Count: 1}, false, ""},
		"changes_requested without feedback": {one{Status: event.StoryChangesRequested, Count: 1}, false, "reviewFeedback"},
		"approved and not passing":           {one{Status: event.StoryApproved, Count: 1}, false, "passes"},
		"negative count":                     {one{Count: -1}, false, "reviewCount"},
		"more reviews than the cap":          {one{Status: event.StoryNeedsReview, Count: 7}, false, "reviewCount"},
		"review skipped":                     {one{Passes: true}, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := shared.in(t)
			c.story.ID = "US-001"
			w.mark(plan.Marker{SkipReview: c.skip, IterationMode: event.ModeImplement})
			w.write("ralph/tasks.json", tasksOf(c.story))
			checkBlocked(t, w.stop(nil), c.want)
		})
	}
}

// The cases of check 2.5: what an iteration may change, by its mode.
func TestReviewTransitions(t *testing.T) {
	t.Parallel()
	shared := newWorld(t).live()
	fresh := one{ID: "US-001"}
	waiting := one{ID: "US-001", Status: event.StoryNeedsReview, Count: 1}
	asked := one{ID: "US-001", Status: event.StoryChangesRequested, Count: 1, Feedback: "f"}
	second := one{ID: "US-002", Status: event.StoryNeedsReview}
	change := func(o one, do func(*one)) one { do(&o); return o }
	approved := func(o *one) { o.Passes, o.Status, o.Count = true, event.StoryApproved, o.Count+1 }
	for name, c := range map[string]struct {
		mode          event.StoryMode
		before, after []one
		want          string
	}{
		"implement sets passes":        {event.ModeImplement, []one{fresh}, []one{change(fresh, func(o *one) { o.Passes = true })}, "passes"},
		"implement approves":           {event.ModeImplement, []one{fresh}, []one{change(fresh, func(o *one) { o.Status, o.Passes = event.StoryApproved, true })}, "US-001"},
		"implement only approves":      {event.ModeImplement, []one{fresh}, []one{change(fresh, func(o *one) { o.Status = event.StoryApproved })}, "reviewStatus"},
		"implement counts a review":    {event.ModeImplement, []one{fresh}, []one{change(fresh, func(o *one) { o.Count = 1 })}, "reviewCount"},
		"implement asks for a review":  {event.ModeImplement, []one{fresh}, []one{change(fresh, func(o *one) { o.Status = event.StoryNeedsReview })}, ""},
		"implement adds a story":       {event.ModeImplement, []one{fresh}, []one{fresh, {ID: "US-009"}}, ""},
		"implement adds a passing one": {event.ModeImplement, []one{fresh}, []one{fresh, {ID: "US-009", Passes: true, Status: event.StoryApproved, Count: 1}}, "US-009"},
		"implement writes feedback":    {event.ModeImplement, []one{asked}, []one{change(asked, func(o *one) { o.Feedback = "all is well" })}, "reviewFeedback was changed"},
		"review approves":              {event.ModeReview, []one{waiting}, []one{change(waiting, approved)}, ""},
		"review requests changes": {event.ModeReview, []one{waiting}, []one{change(waiting, func(o *one) {
			o.Status, o.Count, o.Feedback = event.StoryChangesRequested, 2, "fix it"
		})}, ""},
		"review does not count":     {event.ModeReview, []one{waiting}, []one{change(waiting, func(o *one) { o.Passes, o.Status = true, event.StoryApproved })}, "reviewCount"},
		"review of two stories":     {event.ModeReview, []one{waiting, second}, []one{change(waiting, approved), change(second, approved)}, "US-00"},
		"fix sets passes":           {event.ModeReviewFix, []one{asked}, []one{change(asked, func(o *one) { o.Passes = true })}, "US-001"},
		"fix asks for a new review": {event.ModeReviewFix, []one{asked}, []one{change(asked, func(o *one) { o.Status, o.Feedback = event.StoryNeedsReview, "" })}, ""},
		"fix leaves the feedback":   {event.ModeReviewFix, []one{asked}, []one{change(asked, func(o *one) { o.Status = event.StoryNeedsReview })}, "clear it"},
		"fix rewrites the feedback": {event.ModeReviewFix, []one{asked}, []one{change(asked, func(o *one) { o.Feedback = "none of it" })}, "reviewFeedback was changed"},
		"fix counts a review": {event.ModeReviewFix, []one{asked}, []one{change(asked, func(o *one) {
			o.Status, o.Feedback, o.Count = event.StoryNeedsReview, "", 2
		})}, "reviewCount"},
	} {
		t.Run(name, func(t *testing.T) {
			w := shared.in(t)
			w.mark(plan.Marker{IterationMode: c.mode, PreIterationSnapshot: snapshotOf(c.before...)})
			w.write("ralph/tasks.json", tasksOf(c.after...))
			checkBlocked(t, w.stop(nil), c.want)
		})
	}
}

// Without reviews, an implement iteration sets passes itself.
func TestSkippedReviewHoldsNobody(t *testing.T) {
	w := newWorld(t).live()
	before := one{ID: "US-001"}
	w.mark(plan.Marker{SkipReview: true, IterationMode: event.ModeImplement, PreIterationSnapshot: snapshotOf(before)})
	w.write("ralph/tasks.json", tasksOf(one{ID: "US-001", Passes: true}))
	if got := w.stop(nil); got.Decision != "" || got.SystemMessage != "" {
		t.Errorf("%+v", got)
	}
	w.write("ralph/tasks.json", strings.Replace(tasksOf(one{ID: "US-001", Passes: true}), `"done"`, `""`, 1))
	checkBlocked(t, w.stop(nil), "notes")
}

func TestMissingSnapshotWarns(t *testing.T) {
	w := newWorld(t).live()
	w.mark(plan.Marker{IterationMode: event.ModeImplement})
	w.write("ralph/tasks.json", tasksOf(one{ID: "US-001", Passes: true, Status: event.StoryApproved, Count: 1}))
	got := w.stop(nil)
	checkBlocked(t, got, "")
	if !strings.Contains(got.SystemMessage, "no snapshot") {
		t.Errorf("no warning: %+v", got)
	}
	w.write("ralph/tasks.json", tasksOf(one{ID: "US-001", Passes: true}))
	checkBlocked(t, w.stop(nil), "approved")
}

func TestUncommittedChangesBlock(t *testing.T) {
	bothAgents(t, func(t *testing.T, w *world) {
		w.write("ralph/tasks.json", tasksOf(one{ID: "US-001"}))
		w.write(".gitignore", ".ralph/\n")
		w.commit()
		w.live().mark(plan.Marker{IterationMode: event.ModeImplement, PreIterationSnapshot: snapshotOf(one{ID: "US-001"})})
		checkBlocked(t, w.stop(nil), "") // the marker and the loop's folder are not the agent's
		w.write("code.go", "package code\n")
		got := w.stop(nil)
		checkBlocked(t, got, `"code.go"`)
		for _, want := range []string{"1 file", "ralph/progress.txt", "CLAUDE.md", "Commit all"} {
			if !strings.Contains(got.Reason, want) {
				t.Errorf("reason %q, want %q", got.Reason, want)
			}
		}
		w.commit()
		checkBlocked(t, w.stop(nil), "")
	})
}

func TestChecksAreInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("ralph/tasks.json", tasksOf(one{ID: "US-001"}))
	w.commit()
	w.live().mark(plan.Marker{IterationMode: event.ModeImplement, PreIterationSnapshot: snapshotOf(one{ID: "US-001"})})
	w.write("ralph/tasks.json", tasksOf(one{ID: "US-001", Passes: true}))
	got := w.stop(nil)
	review, files := strings.Index(got.Reason, "US-001"), strings.Index(got.Reason, "uncommitted")
	if review < 0 || files < review {
		t.Errorf("review at %d, files at %d: %s", review, files, got.Reason)
	}
}

// A session that is not ralph's, or no longer, is never held.
func TestOthersAreNeverHeld(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(t *testing.T, w *world) map[string]any{
		"no marker": func(t *testing.T, w *world) map[string]any { w.live(); return nil },
		"a person's session": func(t *testing.T, w *world) map[string]any {
			w.live().mark(plan.Marker{})
			delete(w.env, LoopDirVariable)
			return nil
		},
		"a dead loop": func(t *testing.T, w *world) map[string]any {
			w.mark(plan.Marker{PID: os.Getpid()})
			w.env[LoopDirVariable] = w.loop
			return nil
		},
		"another loop's": func(t *testing.T, w *world) map[string]any {
			w.live().mark(plan.Marker{})
			w.env[LoopDirVariable] = filepath.Join(w.project, ".ralph", "other")
			return nil
		},
		"a subagent": func(t *testing.T, w *world) map[string]any {
			w.live().mark(plan.Marker{})
			return map[string]any{"agent_id": "a"}
		},
		"a subagent's stop": func(t *testing.T, w *world) map[string]any {
			w.live().mark(plan.Marker{})
			return map[string]any{"hook_event_name": "SubagentStop"}
		},
		"no folder of a loop": func(t *testing.T, w *world) map[string]any {
			w.mark(plan.Marker{})
			w.env[LoopDirVariable] = "demo"
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write("ralph/tasks.json", "{")
			checkBlocked(t, w.stop(prepare(t, w)), "")
		})
	}
}

func TestHoldingHasAnEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t).live()
	w.mark(plan.Marker{})
	w.write("ralph/tasks.json", "{")
	for range mostHeld {
		checkBlocked(t, w.stop(map[string]any{"stop_hook_active": true}), "not valid")
	}
	got := w.stop(map[string]any{"stop_hook_active": true})
	checkBlocked(t, got, "")
	if !strings.Contains(got.SystemMessage, "not in order") {
		t.Errorf("the person reads nothing: %+v", got)
	}
	w.write("ralph/tasks.json", "{}") // other problems
	checkBlocked(t, w.stop(nil), "userStories")
	w.session = "S-2"
	checkBlocked(t, w.stop(nil), "userStories")
}

func TestHoldingEndsWhateverChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t).live()
	w.mark(plan.Marker{})
	for i := range mostHeldAll {
		w.write("ralph/tasks.json", []string{"{", "{}"}[i%2])
		checkBlocked(t, w.stop(nil), "not valid")
	}
	checkBlocked(t, w.stop(nil), "")
}

// Without a place to count in, an agent is held once.
func TestUncountedHoldIsOne(t *testing.T) {
	w := newWorld(t).live()
	w.mark(plan.Marker{})
	w.write("ralph/tasks.json", "{")
	if err := os.WriteFile(filepath.Join(w.home, recordFolder), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := w.answer(Stop, w.input("Stop", nil))
	checkBlocked(t, got, "not valid")
	if err == nil {
		t.Error("no error for stderr")
	}
	got, _ = w.answer(Stop, w.input("Stop", map[string]any{"stop_hook_active": true}))
	checkBlocked(t, got, "")
}

func TestMarkerIsFoundFromSubfolder(t *testing.T) {
	w := newWorld(t).live()
	w.mark(plan.Marker{})
	w.write("ralph/tasks.json", "{")
	checkBlocked(t, w.stop(map[string]any{"cwd": filepath.Join(w.project, "a", "b")}), "not valid")
	checkBlocked(t, w.stop(map[string]any{"cwd": "/"}), "not valid")
}

func TestMarkerThatIsGarbage(t *testing.T) {
	w := newWorld(t).live()
	w.write(plan.Active, "{{{")
	w.write("ralph/tasks.json", "{")
	got, err := w.answer(Stop, w.input("Stop", nil))
	checkBlocked(t, got, "")
	if err == nil {
		t.Error("no error for stderr")
	}
}
