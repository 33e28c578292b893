package story

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// Decide writes the result of a review by several reviewers into a tasks.json. count is the number
// of this review; at the cap, the story is approved with the feedback as open concerns. A story
// that passes needs notes: note is written where it has none. The error is as of [SetReview].
func Decide(data []byte, id string, approved bool, feedback string, count int, note string, r Rules) ([]byte, error) {
	review := Review{Passes: true, Status: event.StoryApproved, Count: count, Feedback: feedback}
	switch {
	case approved:
	case count >= r.Cap:
		review.Feedback = prefixed(feedback)
	default:
		review.Passes, review.Status = false, event.StoryChangesRequested
	}
	return conclude(data, id, review, note)
}

// Pass writes into a tasks.json that a story is done without a review: it is done for a loop that
// skips reviews, and waits for its review otherwise. Notes and the error are as of [Decide].
func Pass(data []byte, id, note string) ([]byte, error) {
	review := Review{Passes: true}
	if l, _ := Parse(data); l != nil && l.Find(id) != nil {
		review.Count, review.Feedback = l.Find(id).ReviewCount, l.Find(id).ReviewFeedback
	}
	return conclude(data, id, review, note)
}

func conclude(data []byte, id string, review Review, note string) ([]byte, error) {
	l, _ := Parse(data)
	if l == nil || l.Find(id) == nil {
		return nil, fmt.Errorf("decide on story %s: there is no such story", id)
	}
	if review.Passes && strings.TrimSpace(l.Find(id).Notes) == "" {
		f, _ := read(data)
		e := edits{data: data}
		e.set(f.find(id), "notes", jsonscan.AppendString(nil, note))
		data = e.apply()
	}
	return SetReview(data, id, review)
}
