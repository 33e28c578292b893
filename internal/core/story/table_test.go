package story

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/internal/testkit/golden"
	"github.com/ralph-loop/ralph/journal/event"
)

// A cell is the review fields of a story.
type cell struct {
	passes   bool
	status   event.StoryStatus
	count    int
	feedback string
}

func (c cell) String() string {
	passes, feedback := "open", c.feedback
	if c.passes {
		passes = "passes"
	}
	if feedback == "" {
		feedback = "-"
	}
	return fmt.Sprintf("%s %s %d %s", passes, name(c.status), c.count, feedback)
}

func (c cell) story(id string) Story { return st(id, c.passes, c.status, c.count, c.feedback) }

func cellOf(s *Story) cell { return cell{s.Passes, s.ReviewStatus, s.ReviewCount, s.ReviewFeedback} }

var (
	allModes    = []event.StoryMode{event.ModeImplement, event.ModeReview, event.ModeReviewFix}
	allStatuses = []event.StoryStatus{unreviewed, waits, changes, approved}
)

// cells returns all combinations of these counts and feedbacks with passes and reviewStatus.
func cells(counts []int, feedbacks ...string) []cell {
	var all []cell
	for _, passes := range []bool{false, true} {
		for _, status := range allStatuses {
			for _, count := range counts {
				for _, feedback := range feedbacks {
					all = append(all, cell{passes, status, count, feedback})
				}
			}
		}
	}
	return all
}

// changesOf returns what can become of a story: its count is the same or changes by 1, 2 or -1; its
// feedback is the same, cleared or set.
func changesOf(b cell) []cell {
	counts := []int{b.count, b.count + 1, b.count + 2, b.count - 1}
	if b.feedback == "" {
		return cells(counts, "", "new")
	}
	return cells(counts, b.feedback, "", "new")
}

// fileOf is a tasks.json of these stories.
func fileOf(stories ...Story) []byte {
	text := []byte(`{"project": "p", "branchName": "b", "description": "d", "userStories": [`)
	for i, s := range stories {
		if i > 0 {
			text = append(text, ',')
		}
		status := "null"
		if s.ReviewStatus != "" {
			status = `"` + string(s.ReviewStatus) + `"`
		}
		text = fmt.Appendf(text, "\n"+`  {"id": %s, "title": "t", "acceptanceCriteria": ["a"], "priority": %g, "passes": %t, "reviewStatus": %s, "reviewCount": %d, "reviewFeedback": %s, "notes": "n"}`,
			jsonscan.AppendString(nil, s.ID), s.Priority, s.Passes, status, s.ReviewCount, jsonscan.AppendString(nil, s.ReviewFeedback))
	}
	return append(text, "\n]}\n"...)
}

// The verdicts on a change of one story.
const (
	legal   = "legal"
	putBack = "put back"
	cleared = "feedback cleared" // the rest of the change stays
)

// specified is the table of the specification, as the changes that each mode allows. All others are
// put back.
func specified(mode event.StoryMode, b, a cell) string {
	if a == b {
		return legal
	}
	allowed := map[cell]string{}
	switch mode {
	case event.ModeImplement:
		if b.status == unreviewed && !b.passes {
			allowed[cell{false, waits, b.count, b.feedback}] = legal
		}
	case event.ModeReview:
		if waitsForReview(b) {
			for _, feedback := range []string{"", b.feedback, "new"} {
				allowed[cell{true, approved, b.count + 1, feedback}] = legal
				if feedback != "" {
					allowed[cell{false, changes, b.count + 1, feedback}] = legal
				}
			}
		}
	case event.ModeReviewFix:
		if b.status == changes {
			allowed[cell{false, waits, b.count, ""}] = legal
			for _, feedback := range []string{b.feedback, "new"} {
				if feedback != "" {
					allowed[cell{false, waits, b.count, feedback}] = cleared
				}
			}
		}
	}
	if verdict, ok := allowed[a]; ok {
		return verdict
	}
	return putBack
}

// waitsForReview is so for needs_review, and for what a person wrote that contradicts itself.
func waitsForReview(b cell) bool {
	return b.status == waits || b.passes && b.status == unreviewed || !b.passes && b.status == approved
}

// result is what a story must be after a repair.
func result(b, a cell, verdict string) cell {
	switch verdict {
	case putBack:
		return b
	case cleared:
		a.feedback = ""
	}
	return a
}

// checkRepair checks that the runner and the hook agree, and what the runner makes of the file. It
// returns the stories of the repaired file.
func checkRepair(t *testing.T, mode event.StoryMode, before, after []Story) []cell {
	t.Helper()
	data, problems, restored := Repair(fileOf(after...), fileOf(before...), mode, rules)
	states := list(before...).States()
	judged := Judge(states, list(after...), mode, rules)
	if texts(problems) != texts(judged) || restored {
		t.Errorf("%s: the runner found %q, restored %v, the hook %q", mode, texts(problems), restored, texts(judged))
	}
	l, wrong := Parse(data)
	if len(wrong) > 0 {
		t.Fatalf("%s\n%s", texts(wrong), data)
	}
	left := Judge(states, l, mode, rules)
	if len(left) > 1 || len(left) == 1 && !strings.Contains(left[0].Text, "waits for a review") {
		t.Errorf("%s: after the repair: %s\n%s", mode, texts(left), data)
	}
	var got []cell
	for i := range l.Stories {
		got = append(got, cellOf(&l.Stories[i]))
	}
	return got
}

// TestTransitionTable compares the verdict on every change of one story and of two, of the hook and
// of the runner, with the specification. testdata/transitions.txt is the table for readers.
func TestTransitionTable(t *testing.T) {
	var table strings.Builder
	table.WriteString(tableHeader)
	oneStory(t, &table)
	twoStories(t, &table)
	newStories(t, &table)
	golden.Check(t, filepath.Join("testdata", "transitions.txt"), table.String())
}

const tableHeader = `# What an iteration may do to the review fields of tasks.json.
# Made by 'go test ./internal/core/story -run Table -update'.
# A story is: passes or open, reviewStatus, reviewCount, reviewFeedback (- is empty).
`

func oneStory(t *testing.T, table *strings.Builder) {
	fmt.Fprintf(table, "\n## One story: count the same, +1, +2, -1; feedback the same, cleared, new\n")
	for _, mode := range allModes {
		for _, b := range cells([]int{2}, "", "old") {
			verdicts := map[string][]string{}
			for _, a := range changesOf(b) {
				verdict := specified(mode, b, a)
				before, after := list(b.story("A")), list(a.story("A"))
				problems := Judge(before.States(), after, mode, rules)
				missing := mode == event.ModeReview && a == b && waitsForReview(b)
				if (len(problems) == 0) != (verdict == legal && !missing) {
					t.Errorf("%s: %s → %s is %s, but judged: %s", mode, b, a, verdict, texts(problems))
				}
				if len(problems) > 0 && (problems[0].Story != "A" || problems[0].Field == "" || !strings.Contains(problems[0].Text, problems[0].Field)) {
					t.Errorf("%s: %s → %s: %+v", mode, b, a, problems[0])
				}
				fields := map[string]bool{}
				for _, p := range problems {
					if fields[p.Field] {
						t.Errorf("%s: %s → %s: two problems of one field: %s", mode, b, a, texts(problems))
					}
					fields[p.Field] = true
				}
				if got, want := checkRepair(t, mode, before.Stories, after.Stories)[0], result(b, a, verdict); got != want {
					t.Errorf("%s: %s → %s is %s, but became %s", mode, b, a, verdict, got)
				}
				if none := Judge(before.States(), after, mode, Rules{Cap: 5, SkipReview: true}); len(none) > 0 {
					t.Errorf("%s without reviews: %s → %s: %s", mode, b, a, texts(none))
				}
				switch {
				case missing:
					verdicts["a verdict is missing"] = append(verdicts["a verdict is missing"], "as before")
				case a == b:
					verdicts[legal] = append(verdicts[legal], "as before")
				default:
					verdicts[verdict] = append(verdicts[verdict], a.String())
				}
			}
			fmt.Fprintf(table, "\n%s: %s\n", mode, b)
			for _, verdict := range []string{legal, "a verdict is missing", cleared} {
				for _, a := range verdicts[verdict] {
					fmt.Fprintf(table, "    %s: %s\n", verdict, a)
				}
			}
			fmt.Fprintf(table, "    %s: %d others\n", putBack, len(verdicts[putBack]))
		}
	}
}

// twoStories changes two stories in each way, count by 0 and 1. Every 37th file is repaired too.
func twoStories(t *testing.T, table *strings.Builder) {
	fmt.Fprintf(table, "\n## Two stories: how many changes of both are legal, and which\n")
	begin := []cell{{false, unreviewed, 0, ""}, {false, waits, 1, ""}, {false, changes, 1, "old"}, {true, approved, 1, ""}}
	changed := func(b cell) []cell {
		if b.feedback == "" {
			return cells([]int{b.count, b.count + 1}, "", "new")
		}
		return cells([]int{b.count, b.count + 1}, b.feedback, "")
	}
	number := 0
	for _, mode := range allModes {
		for _, b1 := range begin {
			for _, b2 := range begin {
				fmt.Fprintf(table, "\n%s: %s / %s\n", mode, b1, b2)
				states := list(b1.story("A"), b2.story("B")).States()
				wrong := 0
				for _, a1 := range changed(b1) {
					for _, a2 := range changed(b2) {
						number++
						before, after := []Story{b1.story("A"), b2.story("B")}, []Story{a1.story("A"), a2.story("B")}
						v1, v2 := specified(mode, b1, a1), specified(mode, b2, a2)
						if a1 != b1 && a2 != b2 && v1 != putBack && v2 != putBack {
							v2 = putBack // one story in each iteration
						}
						missing := mode == event.ModeReview && a1 == b1 && a2 == b2 && (waitsForReview(b1) || waitsForReview(b2))
						allowed := v1 == legal && v2 == legal && !missing
						if problems := Judge(states, list(after...), mode, rules); (len(problems) == 0) != allowed {
							t.Errorf("%s: %s / %s → %s / %s is %s, %s, but judged: %s", mode, b1, b2, a1, a2, v1, v2, texts(problems))
						}
						if allowed {
							fmt.Fprintf(table, "    legal: %s / %s\n", a1, a2)
						} else {
							wrong++
						}
						if number%37 != 0 {
							continue
						}
						got := checkRepair(t, mode, before, after)
						if got[0] != result(b1, a1, v1) || got[1] != result(b2, a2, v2) {
							t.Errorf("%s: %s / %s → %s / %s is %s, %s, but became %s", mode, b1, b2, a1, a2, v1, v2, got)
						}
					}
				}
				fmt.Fprintf(table, "    not legal: %d others\n", wrong)
			}
		}
	}
}

// newStories adds and removes stories.
func newStories(t *testing.T, table *strings.Builder) {
	fmt.Fprintf(table, "\n## New and removed stories\n")
	start := cell{false, unreviewed, 0, ""}
	for _, mode := range allModes {
		// The iteration does what it is for, so that only the other story is judged.
		worked := map[event.StoryMode][2]cell{
			event.ModeImplement: {start, {false, waits, 0, ""}},
			event.ModeReview:    {{false, waits, 0, ""}, {true, approved, 1, ""}},
			event.ModeReviewFix: {{false, changes, 1, "old"}, {false, waits, 1, ""}},
		}[mode]
		fmt.Fprintf(table, "\n%s\n", mode)
		for _, n := range cells([]int{0, 1}, "", "new") {
			verdict, want := legal, n
			if n.passes || n.status != unreviewed || n.count != 0 {
				verdict, want = "begins at the start", cell{feedback: n.feedback}
			}
			fmt.Fprintf(table, "    new %s: %s\n", n, verdict)
			before, after := []Story{worked[0].story("A")}, []Story{n.story("N"), worked[1].story("A")}
			if problems := Judge(list(before...).States(), list(after...), mode, rules); (len(problems) == 0) != (verdict == legal) {
				t.Errorf("%s: new %s: %s", mode, n, texts(problems))
			}
			if got := checkRepair(t, mode, before, after); got[0] != want || got[1] != worked[1] {
				t.Errorf("%s: new %s became %s", mode, n, got)
			}
		}
		for _, b := range cells([]int{1}, "", "old") {
			before := []Story{b.story("B"), worked[0].story("A")}
			problems := Judge(list(before...).States(), list(worked[1].story("A")), mode, rules)
			if len(problems) != 1 || problems[0].Story != "B" {
				t.Errorf("%s: removed %s: %s", mode, b, texts(problems))
			}
			if got := checkRepair(t, mode, before, []Story{worked[1].story("A")}); len(got) != 2 || got[0] != b || got[1] != worked[1] {
				t.Errorf("%s: removed %s became %s", mode, b, got)
			}
		}
		fmt.Fprintf(table, "    removed, whatever it was: comes back\n")
	}
}
