//go:build unix

package executor_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/journal/event"
)

const twoStories = `{
  "project": "p", "branchName": "b", "description": "d", "verifyCommands": ["make test"],
  "userStories": [
    {"id": "A", "title": "first", "description": "", "acceptanceCriteria": ["it works"], "priority": 1, "passes": false, "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "", "notes": "n", "dependsOn": []},
    {"id": "B", "title": "second", "description": "", "acceptanceCriteria": ["it works"], "priority": 2, "passes": false, "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "", "notes": "n", "dependsOn": ["A"]}
  ]
}
`

// overStories returns an executor of a loop over these stories.
func overStories(t *testing.T, tasks string) *stage {
	t.Helper()
	s := set(t, nil)
	s.state.Rules.Stories, s.state.Rules.Review.Cap, s.state.Rules.MaximumIterations = true, 5, 9
	if err := os.Mkdir(plan.Dir(s.cfg.Project), 0o755); err != nil {
		t.Fatal(err)
	}
	s.writeTasks(tasks)
	return s.up()
}

func (s *stage) writeTasks(text string) {
	s.t.Helper()
	if err := os.WriteFile(plan.Path(s.cfg.Project, plan.Tasks), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) tasksAre(want string) {
	s.t.Helper()
	got, err := plan.ReadTasks(s.cfg.Project)
	if err != nil || string(got) != want {
		s.t.Errorf("tasks.json is %s, %v", got, err)
	}
}

func (s *stage) tasks() string {
	s.t.Helper()
	text, err := plan.ReadTasks(s.cfg.Project)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// takes folds a report, as the loop does.
func (s *stage) takes(e reported) {
	s.t.Helper()
	var p event.Payload
	switch e.typ {
	case event.TypeStoriesRead:
		p = decodeAs[event.StoriesRead](s.t, e)
	case event.TypeStoriesJudged:
		p = decodeAs[event.StoriesJudged](s.t, e)
	}
	s.state.Stories.Apply(p, &s.state.Lifecycle)
}

func decodeAs[T event.Payload](t *testing.T, e reported) (p T) {
	t.Helper()
	if err := json.Unmarshal([]byte(e.data), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

var (
	beginOne = event.Decided{Do: event.DoBegin, Iteration: 1}
	startOne = event.Decided{Do: event.DoStart, Iteration: 1}
	checkOne = event.Decided{Do: event.DoCheck, Iteration: 1}
)

// begins reads the stories, and lets the loop believe that an agent has run.
func (s *stage) begins() {
	s.t.Helper()
	s.do(beginOne)
	s.takes(s.until(event.TypeStoriesRead))
	s.until(event.TypeIterationStarted)
	s.state.Stories.Apply(startOne, &s.state.Lifecycle)
}

func TestBeginReadsStories(t *testing.T) {
	s := overStories(t, twoStories)
	s.do(beginOne)
	read := decodeAs[event.StoriesRead](t, s.until(event.TypeStoriesRead))
	if read.Mode != event.ModeImplement || read.Story != "A" || read.File.Text != twoStories || len(read.Stories) != 2 || read.Done {
		t.Errorf("read %+v", read)
	}
	if started := decodeAs[event.IterationStarted](t, s.until(event.TypeIterationStarted)); started.Mode != "implement" || !strings.Contains(started.Prompt.Text, "ralph/tasks.json") || !strings.Contains(started.Prompt.Text, "> A first") {
		t.Errorf("started %+v", started)
	}
	m, err := plan.ReadMarker(s.cfg.Project)
	if err != nil || m.PID != os.Getpid() || m.Dir != s.cfg.Dir || m.Story != "A" || m.IterationMode != event.ModeImplement || m.MaxIterations != 9 || m.ReviewCap != 5 || m.SkipReview || len(m.PreIterationSnapshot) != 2 {
		t.Errorf("the marker is %+v, %v", m, err)
	}
	if _, err := os.Stat(filepath.Join(s.cfg.Dir, "task.md")); err == nil {
		t.Error("a loop over stories has a task.md")
	}
}

func TestBeginRefusesBrokenStories(t *testing.T) {
	for name, row := range map[string]struct{ tasks, want string }{
		"not JSON":        {"{", "not valid JSON"},
		"a missing field": {strings.Replace(twoStories, `"passes": false, `, "", 1), "story A"},
		"a cycle":         {strings.Replace(twoStories, `"dependsOn": []`, `"dependsOn": ["B"]`, 1), "dependsOn"},
	} {
		s := overStories(t, row.tasks)
		s.do(beginOne)
		failed := decodeAs[event.EffectFailed](t, s.next())
		if failed.Class != event.ClassConfig || !strings.Contains(failed.Error, row.want) || failed.Hint == "" {
			t.Errorf("%s: %+v", name, failed)
		}
	}
	s := overStories(t, twoStories)
	if err := os.Remove(plan.Path(s.cfg.Project, plan.Tasks)); err != nil {
		t.Fatal(err)
	}
	s.do(beginOne)
	if failed := decodeAs[event.EffectFailed](t, s.next()); failed.Class != event.ClassMissing {
		t.Errorf("a missing file: %+v", failed)
	}
}

// What an agent may not change is put back by the check, and by the next runner if there was none.
func TestStoriesArePutBack(t *testing.T) {
	cheated := strings.Replace(twoStories, `"passes": false, "reviewStatus": null`, `"passes": true, "reviewStatus": "approved"`, 1)
	honest := strings.Replace(twoStories, `"reviewStatus": null`, `"reviewStatus": "needs_review"`, 1)
	for name, row := range map[string]struct {
		leave    func(s *stage)
		want     string
		found    string
		restored bool
		problems int
	}{
		"nothing is left as it was": {func(*stage) {}, twoStories, "", false, 0},
		"honest work stays":         {func(s *stage) { s.writeTasks(honest) }, honest, "", false, 0},
		"an approval is put back":   {func(s *stage) { s.writeTasks(cheated) }, twoStories, cheated, false, 2},
		"a broken file is restored": {func(s *stage) { s.writeTasks("{") }, twoStories, "{", true, 2},
		"a file that is gone":       {func(s *stage) { _ = os.Remove(plan.Path(s.cfg.Project, plan.Tasks)) }, twoStories, "", true, 1},
		"a folder that is gone":     {func(s *stage) { _ = os.RemoveAll(plan.Dir(s.cfg.Project)) }, twoStories, "", true, 1},
		"a folder in its place": {func(s *stage) {
			_ = os.Remove(plan.Path(s.cfg.Project, plan.Tasks))
			_ = os.Mkdir(plan.Path(s.cfg.Project, plan.Tasks), 0o755)
		}, twoStories, "", true, 1},
	} {
		for _, restarted := range []bool{false, true} {
			s := overStories(t, twoStories)
			s.begins()
			row.leave(s)
			if restarted {
				s.close()
				again := &stage{t: t, events: s.events, blobs: s.blobs, cfg: s.cfg, state: s.state, cause: s.cause}
				s = again.up()
				s.do(event.Decided{Do: event.DoBegin, Iteration: 2})
			} else {
				s.do(checkOne)
			}
			judged := decodeAs[event.StoriesJudged](t, s.until(event.TypeStoriesJudged))
			found := ""
			if judged.Found != nil {
				found = judged.Found.Text
			}
			if found != row.found || judged.Restored != row.restored || (len(judged.Problems) > 0) != (row.problems > 0) || judged.Mode != event.ModeImplement {
				t.Errorf("%s, restarted %v: %+v", name, restarted, judged)
			}
			if restarted {
				started := decodeAs[event.IterationStarted](t, s.until(event.TypeIterationStarted))
				if strings.Contains(started.Prompt.Text, "What was wrong with") != (row.problems > 0) {
					t.Errorf("%s: the prompt is %s", name, started.Prompt.Text)
				}
			} else {
				s.until(event.TypeIterationChecked)
			}
			s.tasksAre(row.want)
		}
	}
}

// A story whose change is larger than limits.diff does not count as implemented, until it is
// smaller. The plan itself is no part of the change.
func TestOversizedStoryIsPutBack(t *testing.T) {
	s := overStories(t, twoStories)
	s.close()
	s = &stage{t: t, events: s.events, blobs: s.blobs, cfg: s.cfg, state: s.state}
	track(t, s)
	git(t, s, "commit", "-qam", "mine")
	s.state.Rules.Limits.Diff = 3
	s.up()
	s.begins()
	honest := strings.Replace(twoStories, `"reviewStatus": null`, `"reviewStatus": "needs_review"`, 1)
	for _, row := range []struct{ text, want, problem string }{
		{"1\n2\n3\n4\n", twoStories, "story A: 4 lines changed, and limits.diff is 3 for each story"},
		{"1\n2\n3\n", honest, ""},
	} {
		write(t, s.cfg.Project, "new.txt", row.text)
		s.writeTasks(honest)
		s.do(checkOne)
		judged := s.until(event.TypeStoriesJudged)
		if row.problem == "" && has(judged, `"problems"`) || !has(judged, row.problem) {
			t.Errorf("%q is judged %s", row.text, judged.data)
		}
		s.until(event.TypeIterationChecked)
		s.tasksAre(row.want)
	}
}

// A verdict is reported once, even if two runners judge the same turn.
func TestVerdictIsReportedOnce(t *testing.T) {
	waiting := strings.Replace(twoStories, `"reviewStatus": null`, `"reviewStatus": "needs_review"`, 1)
	sentBack := strings.Replace(waiting, `"needs_review", "reviewCount": 0, "reviewFeedback": ""`, `"changes_requested", "reviewCount": 1, "reviewFeedback": "no test"`, 1)
	s := overStories(t, waiting)
	s.begins()
	s.writeTasks(sentBack)
	s.do(checkOne)
	s.takes(s.until(event.TypeStoriesJudged))
	verdict := decodeAs[event.StoryReviewed](t, s.until(event.TypeStoryReviewed))
	if verdict.Story != "A" || verdict.Approved || verdict.Count != 1 || verdict.Feedback != "no test" {
		t.Errorf("the verdict is %+v", verdict)
	}
	s.until(event.TypeIterationChecked)
	s.do(event.Decided{Do: event.DoBegin, Iteration: 2}) // as if the runner had died before the check was recorded
	s.until(event.TypeIterationStarted)
	if n := count(s.rest(), event.TypeStoryReviewed); n != 0 {
		t.Errorf("%d more verdicts", n)
	}
}

// A verdict that ralph writes is committed once, whenever the runner dies.
func TestVerdictCommitSurvivesCrash(t *testing.T) {
	waiting := strings.Replace(twoStories, `"reviewStatus": null`, `"reviewStatus": "needs_review"`, 1)
	sentBack := strings.Replace(waiting, `"needs_review", "reviewCount": 0, "reviewFeedback": ""`, `"changes_requested", "reviewCount": 1, "reviewFeedback": "no test"`, 1)
	for name, row := range map[string]struct {
		died    func(s *stage) // what the disk has then
		commits int            // that the next runner reports
	}{
		"after the commit":                  {func(*stage) {}, 1},
		"before the commit":                 {func(s *stage) { git(t, s, "reset", "--quiet", "--soft", "HEAD~1") }, 1},
		"before the file was written":       {func(s *stage) { git(t, s, "reset", "--quiet", "--hard", "HEAD~1") }, 1},
		"and a person committed it":         {func(s *stage) { git(t, s, "commit", "--quiet", "--amend", "-m", "Mine") }, 0},
		"and a person changed what is next": {func(s *stage) { s.writeTasks(strings.Replace(s.tasks(), "second", "other", 1)) }, 0},
	} {
		s := overStories(t, waiting)
		s.close()
		s = &stage{t: t, events: s.events, blobs: s.blobs, cfg: s.cfg, state: s.state}
		track(t, s)
		s.state.Rules.Review.Cap = 1 // the request becomes an approval
		s.up()
		s.begins()
		s.writeTasks(sentBack)
		git(t, s, "commit", "-qam", "Review")
		s.do(checkOne)
		judged := s.until(event.TypeStoriesJudged)
		s.takes(judged)
		if verdict := s.until(event.TypeStoryReviewed); !has(verdict, `"atCap":true`) {
			t.Fatalf("the verdict is %s", verdict.data)
		}
		made := decodeAs[event.RepoCommitted](t, s.until(event.TypeRepoCommitted))
		intent := decodeAs[event.StoriesJudged](t, judged).Commit
		if intent == nil || intent.Message != made.Message || git(t, s, "log", "-1", "--format=%H %s") != made.SHA+" "+made.Message {
			t.Fatalf("%s: recorded %+v, committed %+v", name, intent, made)
		}
		s.until(event.TypeIterationChecked)
		s.close()

		row.died(s)
		s = &stage{t: t, events: s.events, blobs: s.blobs, cfg: s.cfg, state: s.state}
		s.up()
		s.do(event.Decided{Do: event.DoBegin, Iteration: 2})
		var found []event.RepoCommitted
		for e := s.next(); e.typ != event.TypeStoriesRead; e = s.next() {
			if e.typ == event.TypeRepoCommitted {
				found = append(found, decodeAs[event.RepoCommitted](t, e))
			}
		}
		if len(found) != row.commits {
			t.Errorf("%s: reported %+v", name, found)
		}
		for _, c := range found {
			if c.Message != made.Message || c.Insertions != made.Insertions || git(t, s, "rev-parse", "HEAD") != c.SHA {
				t.Errorf("%s: reported %+v, made %+v", name, c, made)
			}
			if subject := git(t, s, "log", "-1", "--format=%s", "HEAD~1"); subject != "Review" {
				t.Errorf("%s: it follows %q", name, subject)
			}
		}
		s.close()
	}
}

// If all stories are done no iteration begins, unless the claim was refused.
func TestBeginWithoutOpenStories(t *testing.T) {
	done := strings.ReplaceAll(twoStories, `"passes": false, "reviewStatus": null, "reviewCount": 0`, `"passes": true, "reviewStatus": "approved", "reviewCount": 1`)
	s := overStories(t, done)
	s.do(beginOne)
	if read := decodeAs[event.StoriesRead](t, s.until(event.TypeStoriesRead)); !read.Done || read.Story != "" {
		t.Errorf("read %+v", read)
	}
	s.state.Stories.Refused = true
	s.do(beginOne)
	if read := decodeAs[event.StoriesRead](t, s.until(event.TypeStoriesRead)); read.Done {
		t.Errorf("read %+v", read)
	}
	s.until(event.TypeIterationStarted)
}

func TestChangedRequirementsAreReported(t *testing.T) {
	s := overStories(t, twoStories)
	prd := plan.Path(s.cfg.Project, plan.PRD)
	if err := os.WriteFile(prd, []byte("be good\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.begins()
	if err := os.WriteFile(prd, []byte("be bad\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.do(checkOne)
	if e := s.until(event.TypeStoriesJudged); !has(e, "ralph/prd.md was changed") {
		t.Errorf("judged %s", e.data)
	}
}
