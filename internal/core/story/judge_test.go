package story

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
)

const (
	unreviewed = event.StoryStatus("")
	waits      = event.StoryNeedsReview
	changes    = event.StoryChangesRequested
	approved   = event.StoryApproved
)

// st is a story with these review fields.
func st(id string, passes bool, status event.StoryStatus, count int, feedback string) Story {
	return Story{
		ID: id, Title: "t", AcceptanceCriteria: []string{"a"}, Priority: 1, Notes: "n",
		Passes: passes, ReviewStatus: status, ReviewCount: count, ReviewFeedback: feedback,
	}
}

func list(stories ...Story) *List { return &List{Project: "p", Stories: stories} }

// TestReviewIntegrity: contradictions between the fields of a story, without a snapshot.
func TestReviewIntegrity(t *testing.T) {
	for _, c := range []struct {
		name  string
		story Story
		text  string // empty: allowed
	}{
		{"passes, not reviewed", st("A", true, unreviewed, 0, ""), "reviewStatus is null and not approved"},
		{"passes, needs review", st("A", true, waits, 0, ""), "reviewStatus is needs_review and not approved"},
		{"passes, changes requested", st("A", true, changes, 1, "fix"), "reviewStatus is changes_requested and not approved"},
		{"passes, approved", st("A", true, approved, 1, ""), ""},
		{"changes requested without feedback", st("A", false, changes, 1, " \n"), "reviewFeedback is empty"},
		{"changes requested with feedback", st("A", false, changes, 1, "fix"), ""},
		{"approved, does not pass", st("A", false, approved, 1, ""), "passes is false"},
		{"more reviews than the cap", st("A", false, waits, 7, ""), "at most 5 reviews"},
		{"one more review than the cap", st("A", false, waits, 6, ""), ""},
		{"not begun", st("A", false, unreviewed, 0, ""), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, before := range [][]event.StoryState{nil, {}} {
				expect(t, Judge(before, list(c.story), event.ModeImplement, rules), c.text)
			}
			// A snapshot without a mode is as good as none.
			expect(t, Judge(list(c.story).States(), list(c.story), "", rules), c.text)
			if problems := Judge(nil, list(c.story), event.ModeImplement, Rules{Cap: 5, SkipReview: true}); len(problems) > 0 {
				t.Errorf("without reviews: %s", texts(problems))
			}
		})
	}
	t.Run("negative count", func(t *testing.T) {
		_, problems := Parse([]byte(edited(t, three, `"reviewCount": 1`, `"reviewCount": -1`)))
		expect(t, problems, "a number (-1), but must be an integer from 0")
	})
}

// expect checks that there is a problem of story A with a text, or with "" none at all.
func expect(t *testing.T, problems []event.StoryProblem, text string) {
	t.Helper()
	if text == "" {
		if len(problems) > 0 {
			t.Errorf("not allowed: %s", texts(problems))
		}
		return
	}
	if !strings.Contains(texts(problems), text) {
		t.Errorf("got %q, want %q", texts(problems), text)
	}
}

// TestTransitions: a change is judged by the mode of the iteration.
func TestTransitions(t *testing.T) {
	const implement, review, fix = event.ModeImplement, event.ModeReview, event.ModeReviewFix
	start := st("A", false, unreviewed, 0, "")
	waiting := st("A", false, waits, 1, "")
	sent := st("A", false, changes, 1, "fix it")
	other := st("B", false, waits, 0, "")
	for _, c := range []struct {
		name          string
		mode          event.StoryMode
		before, after *List
		text          string // empty: allowed
	}{
		{"implement sets passes", implement, list(start), list(st("A", true, unreviewed, 0, "")),
			"story A: passes changed from false to true, but an implement iteration may not"},
		{"implement approves", implement, list(start), list(st("A", false, approved, 0, "")),
			"story A: reviewStatus changed from null to approved"},
		{"implement approves and sets passes", implement, list(start), list(st("A", true, approved, 1, "")),
			"passes changed from false to true"},
		{"implement adds a review", implement, list(start), list(st("A", false, unreviewed, 1, "")),
			"story A: reviewCount changed from 0 to 1"},
		{"implement asks for a review", implement, list(start), list(st("A", false, waits, 0, "")), ""},
		{"implement does nothing", implement, list(start), list(start), ""},
		{"implement adds a story", implement, list(start), list(start, st("N", false, unreviewed, 0, "")), ""},
		{"implement adds a story that passes", implement, list(start), list(start, st("N", true, unreviewed, 0, "")),
			"story N: the story is new, so passes must be false at first, not true"},
		{"implement adds a reviewed story", implement, list(start), list(start, st("N", false, waits, 2, "")),
			"story N: the story is new, so reviewStatus must be null at first, not needs_review"},
		{"implement takes a story out", implement, list(start, other), list(start), "story B: it is gone"},
		{"implement writes feedback", implement, list(start), list(st("A", false, waits, 0, "all is well")), "reviewFeedback was changed"},
		{"implement takes a request back", implement, list(sent), list(start), "reviewStatus changed from changes_requested to null"},
		{"implement asks for two reviews", implement, list(start, st("B", false, unreviewed, 0, "")),
			list(st("A", false, waits, 0, ""), st("B", false, waits, 0, "")), "story B: reviewStatus changed to needs_review, but one implement iteration changes one story, and this one has changed A"},

		{"review approves", review, list(waiting), list(st("A", true, approved, 2, "")), ""},
		{"review requests changes", review, list(waiting), list(st("A", false, changes, 2, "fix it")), ""},
		{"review requests changes without feedback", review, list(waiting), list(st("A", false, changes, 2, "")), "reviewFeedback is empty"},
		{"review does not count", review, list(waiting), list(st("A", true, approved, 1, "")), "reviewCount changed from 1 to 1, but a review adds 1 to it; set it to 2"},
		{"review counts twice", review, list(waiting), list(st("A", true, approved, 3, "")), "reviewCount changed from 1 to 3"},
		{"review does nothing", review, list(waiting), list(waiting), "story A: it waits for a review, but reviewCount is still 1"},
		{"review of none of two", review, list(waiting, with(other, func(s *Story) { s.Priority = 0 })), list(waiting, with(other, func(s *Story) { s.Priority = 0 })),
			"story B: it waits for a review"},
		{"review only counts", review, list(waiting), list(st("A", false, waits, 2, "")), "a review sets it to approved or changes_requested"},
		{"review approves without passes", review, list(waiting), list(st("A", false, approved, 2, "")), "set passes to true"},
		{"review only sets passes", review, list(waiting), list(st("A", true, waits, 2, "")), "passes changed from false to true"},
		{"review of two stories", review, list(waiting, other), list(st("A", true, approved, 2, ""), st("B", true, approved, 1, "")),
			"one review iteration changes one story, and this one has changed A"},
		{"review touches another story", review, list(waiting, other), list(st("A", true, approved, 2, ""), st("B", false, waits, 1, "")), "story B: "},
		{"review approves what was not implemented", review, list(waiting, st("B", false, unreviewed, 0, "")),
			list(waiting, st("B", true, approved, 1, "")), "story B: passes changed from false to true, but a review iteration may not do that; only a story with needs_review"},
		{"review adds a story", review, list(waiting), list(st("A", true, approved, 2, ""), st("N", false, unreviewed, 0, "")), ""},

		{"review-fix sets passes", fix, list(sent), list(st("A", true, changes, 1, "fix it")), "passes changed from false to true, but a review-fix iteration may not"},
		{"review-fix approves", fix, list(sent), list(st("A", true, approved, 1, "")), "reviewStatus changed from changes_requested to approved"},
		{"review-fix asks for a review", fix, list(sent), list(waiting), ""},
		{"review-fix does nothing", fix, list(sent), list(sent), ""},
		{"review-fix leaves the feedback", fix, list(sent), list(st("A", false, waits, 1, "fix it")), "clear it"},
		{"review-fix adds a review", fix, list(sent), list(st("A", false, waits, 2, "")), "reviewCount changed from 1 to 2"},
		{"review-fix only clears the feedback", fix, list(sent), list(st("A", false, changes, 1, "")), "reviewFeedback was changed"},
		{"review-fix touches another story", fix, list(sent, other), list(waiting, st("B", true, approved, 1, "")), "only a story with changes_requested can be fixed"},

		{"a person's contradiction stays", implement, list(start, st("P", true, unreviewed, 9, "")), list(start, st("P", true, unreviewed, 9, "")), ""},
		{"a person's contradiction is reviewed", review, list(st("P", true, unreviewed, 9, "")), list(st("P", true, approved, 10, "")), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, Judge(c.before.States(), c.after, c.mode, rules), c.text)
		})
	}
}

func TestJudgeWithoutReviews(t *testing.T) {
	before, skip := list(st("A", false, unreviewed, 0, "")), Rules{Cap: 5, SkipReview: true}
	expect(t, Judge(before.States(), list(st("A", true, unreviewed, 0, "")), event.ModeImplement, skip), "")
	expect(t, Judge(before.States(), list(st("B", true, approved, 3, "")), event.ModeImplement, skip), "story A: it is gone")
}

// TestJudgeOversizedStory: a story that is too large does not count as implemented, with reviews
// and without.
func TestJudgeOversizedStory(t *testing.T) {
	large := Rules{Cap: 5, Worked: "A", Oversized: "900 lines changed"}
	unreviewedLarge := large
	unreviewedLarge.SkipReview = true
	start, sent := list(st("A", false, unreviewed, 0, ""), st("B", false, waits, 0, "")), list(st("A", false, changes, 1, "fix it"))
	const why = "story A: 900 lines changed"
	for _, c := range []struct {
		name          string
		rules         Rules
		mode          event.StoryMode
		before, after *List
		text          string // empty: allowed
	}{
		{"it is implemented", large, event.ModeImplement, start, list(st("A", false, waits, 0, ""), st("B", false, waits, 0, "")), why},
		{"it is fixed", large, event.ModeReviewFix, sent, list(st("A", false, waits, 1, "")), why},
		{"it passes without a review", unreviewedLarge, event.ModeImplement, start, list(st("A", true, unreviewed, 0, ""), st("B", false, waits, 0, "")), why},
		{"it is not done yet", large, event.ModeImplement, start, start, ""},
		{"another one is", unreviewedLarge, event.ModeImplement, start, list(st("A", false, unreviewed, 0, ""), st("B", true, waits, 0, "")), ""},
		{"it is split", large, event.ModeImplement, start, list(st("A", false, unreviewed, 0, ""), st("B", false, waits, 0, ""), st("N", false, unreviewed, 0, "")), ""},
		{"it is reviewed", large, event.ModeReview, list(st("A", false, waits, 0, "")), list(st("A", true, approved, 1, "")), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, Judge(c.before.States(), c.after, c.mode, c.rules), c.text)
		})
	}
}

// TestJudgeWithoutFingerprints has the snapshot of a marker that another program wrote.
func TestJudgeWithoutFingerprints(t *testing.T) {
	before := []event.StoryState{{ID: "A", ReviewStatus: changes, ReviewCount: 1}}
	expect(t, Judge(before, list(st("A", false, changes, 1, "fix")), event.ModeReviewFix, rules), "")
	expect(t, Judge(before, list(st("A", false, changes, 1, "")), event.ModeReviewFix, rules), "reviewFeedback is empty")
	expect(t, Judge(before, list(st("A", false, waits, 1, "")), event.ModeReviewFix, rules), "")
}

func TestJudgeIsBounded(t *testing.T) {
	var before, after []Story
	for _, id := range strings.Split(strings.Repeat("x", 300), "") {
		id += strings.Repeat("y", len(before))
		before = append(before, st(id, false, unreviewed, 0, ""))
		after = append(after, st(id, true, approved, 1, ""))
	}
	problems := Judge(list(before...).States(), list(after...), event.ModeImplement, rules)
	if len(problems) != maxProblems+1 || problems[maxProblems].Text != "tasks.json has 880 more problems" {
		t.Errorf("%d problems, the last %q", len(problems), problems[len(problems)-1].Text)
	}
}
