package hook

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/story"
	"github.com/ralph-loop/ralph/journal/event"
)

// The hook and the runner give the same verdict on every change that an iteration can make to the
// review fields of one of two stories, to both, and to a new one. The runner's verdict is that of
// story.Repair.
func TestHookAgreesWithRunner(t *testing.T) {
	compared, blocked := 0, 0
	for c := range everyChange() {
		before, found := []byte(tasksOf(c.before...)), []byte(tasksOf(c.after...))
		for _, skip := range []bool{false, true} {
			m := plan.Marker{IterationMode: c.mode, SkipReview: skip, ReviewCap: 3, PreIterationSnapshot: snapshotOf(c.before...)}
			list, problems := story.Parse(found)
			if len(problems) > 0 {
				t.Fatalf("the test's own file: %v", problems)
			}
			wrong, note := checkReview(list, m)
			_, undone, restored := story.Repair(found, before, c.mode, story.Rules{SkipReview: skip, Cap: 3})
			// The marker has no feedback, so only the runner sees that one was changed.
			unseen := func(p event.StoryProblem) bool {
				return p.Field == "reviewFeedback"
			}
			held, objects := wrong != "", len(undone) > 0
			onlyRunner := !held && len(slices.DeleteFunc(slices.Clone(undone), unseen)) == 0
			if held != objects && !onlyRunner || restored || note != "" {
				t.Fatalf("%s, skip %v, %s → %s: the hook %s, the runner %v", c.mode, skip, shown(c.before), shown(c.after), wrong, undone)
			}
			compared++
			if held {
				blocked++
			}
		}
	}
	if compared < 3000 || blocked < compared/4 || blocked == compared {
		t.Errorf("%d changes, %d blocked", compared, blocked)
	}
}

type aChange struct {
	mode          event.StoryMode
	before, after []one
}

// everyChange yields the changes of a story from each legal state to each state there is, alone,
// and with a second story or a new one.
func everyChange() func(yield func(aChange) bool) {
	states := []event.StoryStatus{"", event.StoryNeedsReview, event.StoryChangesRequested, event.StoryApproved}
	var every, legal []one
	for _, status := range states {
		for _, passes := range []bool{false, true} {
			for _, count := range []int{0, 1} {
				for _, feedback := range []string{"", "f"} {
					o := one{"US-001", passes, status, count, feedback}
					every = append(every, o)
					if passes == (status == event.StoryApproved) && (feedback != "") == (status == event.StoryChangesRequested) {
						legal = append(legal, o)
					}
				}
			}
		}
	}
	second := one{ID: "US-002", Status: event.StoryNeedsReview}
	counted := one{ID: "US-002", Status: event.StoryNeedsReview, Count: 1}
	return func(yield func(aChange) bool) {
		for _, mode := range []event.StoryMode{event.ModeImplement, event.ModeReview, event.ModeReviewFix} {
			for _, b := range legal {
				for _, a := range every {
					if !yield(aChange{mode, []one{b}, []one{a}}) {
						return
					}
					if (a.Feedback != "") != (a.Status == event.StoryChangesRequested) {
						continue // with other stories, half of the states are enough
					}
					for _, c := range []aChange{
						{mode, []one{b, second}, []one{a, second}},
						{mode, []one{b, second}, []one{a, counted}},
						{mode, []one{b}, []one{a, {ID: "US-003"}}},
						{mode, []one{b}, []one{a, {ID: "US-003", Count: 1}}},
					} {
						if !yield(c) {
							return
						}
					}
				}
				if !yield(aChange{mode, []one{b, second}, []one{second}}) { // b vanished
					return
				}
			}
		}
	}
}

func shown(stories []one) string {
	text, err := json.Marshal(stories)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
