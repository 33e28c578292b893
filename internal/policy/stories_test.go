package policy

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/story"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestStoryRules(t *testing.T) {
	for _, row := range []struct {
		in   event.ReviewRules
		want story.Rules
	}{
		{event.ReviewRules{Cap: 3}, story.Rules{Cap: 3}},
		{event.ReviewRules{Skip: true, Cap: 1}, story.Rules{SkipReview: true, Cap: 1}},
		{event.ReviewRules{}, story.Rules{Cap: 1}}, // of a journal from before there were stories
	} {
		if got := StoryRules(event.Rules{Review: row.in}); got != row.want {
			t.Errorf("%+v: %+v, want %+v", row.in, got, row.want)
		}
	}
}

func TestVotesNeeded(t *testing.T) {
	for _, row := range []struct {
		vote            string
		reviewers, want int
	}{
		{"all", 0, 1}, {"all", 1, 1}, {"all", 3, 3}, {"majority", 0, 1}, {"majority", 1, 1}, {"majority", 2, 2}, {"majority", 3, 2}, {"majority", 4, 3},
	} {
		if got := VotesNeeded(event.Rules{Reviewers: row.reviewers, Review: event.ReviewRules{Vote: row.vote}}); got != row.want {
			t.Errorf("%s of %d: %d, want %d", row.vote, row.reviewers, got, row.want)
		}
	}
}

func TestUndoesReviewer(t *testing.T) {
	for mode, want := range map[event.StoryMode]bool{event.ModeReview: true, event.ModeImplement: false, event.ModeReviewFix: false} {
		if got := UndoesReviewer(event.Rules{}, mode); got != want {
			t.Errorf("%s: %v", mode, got)
		}
		if UndoesReviewer(event.Rules{Review: event.ReviewRules{MayEdit: true}}, mode) {
			t.Errorf("%s with review.mayEdit", mode)
		}
	}
}
