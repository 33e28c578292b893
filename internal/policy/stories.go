package policy

import (
	"github.com/ralph-loop/ralph/internal/story"
	"github.com/ralph-loop/ralph/journal/event"
)

// StoryRules returns the settings that a judgement of ralph/tasks.json depends on.
func StoryRules(r event.Rules) story.Rules {
	return story.Rules{SkipReview: r.Review.Skip, Cap: max(r.Review.Cap, 1)}
}

// VotesNeeded returns how many reviewers have to approve a story.
func VotesNeeded(r event.Rules) int {
	reviewers := max(r.Reviewers, 1)
	if r.Review.Vote == "majority" {
		return reviewers/2 + 1
	}
	return reviewers
}

// UndoesReviewer reports whether changes of the code in an iteration of that mode are undone.
func UndoesReviewer(r event.Rules, mode event.StoryMode) bool {
	return mode == event.ModeReview && !r.Review.MayEdit
}
