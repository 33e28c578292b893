package story

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// CapPrefix begins the feedback of a story that ralph approved because it was reviewed as often as
// the settings allow.
const CapPrefix = "[AUTO-APPROVED AT CAP]"

// A Review is what a review, or ralph, says of a story.
type Review struct {
	Passes   bool
	Status   event.StoryStatus
	Count    int
	Feedback string
}

// SetReview writes the review fields of one story into a tasks.json. Everything else stays as it
// is. It fails if the file has no such story, or if the result would not be valid.
func SetReview(data []byte, id string, review Review) ([]byte, error) {
	l, problems := Parse(data)
	switch {
	case len(problems) > 0:
		return nil, fmt.Errorf("set the review of story %s: %s", id, problems[0].Text)
	case l.Find(id) == nil:
		return nil, fmt.Errorf("set the review of story %s: there is no such story", id)
	}
	changed := set(data, id, review)
	if _, problems := Parse(changed); len(problems) > 0 {
		return nil, fmt.Errorf("set the review of story %s: %s", id, problems[0].Text)
	}
	return changed, nil
}

// set is SetReview of a valid file that has the story.
func set(data []byte, id string, review Review) []byte {
	f, _ := read(data)
	o := f.find(id)
	status := []byte("null")
	if review.Status != "" {
		status = jsonscan.AppendString(nil, string(review.Status))
	}
	e := edits{data: data}
	e.set(o, "passes", strconv.AppendBool(nil, review.Passes))
	e.set(o, "reviewStatus", status)
	e.set(o, "reviewCount", strconv.AppendInt(nil, int64(review.Count), 10))
	e.set(o, "reviewFeedback", jsonscan.AppendString(nil, review.Feedback))
	return bytes.Clone(e.apply())
}

// Reviewed returns the verdict of a review iteration on one story, from the states before it and
// the list that [Repair] left; false if there is none. Agent and Open are empty.
func Reviewed(before []event.StoryState, after *List, r Rules) (event.StoryReviewed, bool) {
	counts := make(map[string]int, len(before))
	for _, b := range before {
		counts[b.ID] = b.ReviewCount
	}
	for i := range after.Stories {
		s := &after.Stories[i]
		if count, ok := counts[s.ID]; !ok || s.ReviewCount <= count {
			continue
		}
		approved := s.ReviewStatus == event.StoryApproved
		return event.StoryReviewed{
			Story: s.ID, Approved: approved, Count: s.ReviewCount, Feedback: s.ReviewFeedback,
			AtCap: approved && s.ReviewCount >= r.Cap && strings.HasPrefix(s.ReviewFeedback, CapPrefix),
		}, true
	}
	return event.StoryReviewed{}, false
}

// atCap approves a story that a review has just sent back for the last time.
func (p *repair) atCap() {
	if p.mode != event.ModeReview || p.rules.SkipReview {
		return
	}
	l, _ := Parse(p.data)
	v, ok := Reviewed(p.before.list.States(), l, p.rules)
	if !ok || v.Approved || v.Count < p.rules.Cap {
		return
	}
	s := l.Find(v.Story)
	p.data = set(p.data, v.Story, Review{Passes: true, Status: event.StoryApproved, Count: v.Count, Feedback: prefixed(s.ReviewFeedback)})
	if strings.TrimSpace(s.Notes) == "" {
		f, _ := read(p.data)
		e := edits{data: p.data}
		e.set(f.find(v.Story), "notes", []byte(`"ralph approved it after its last review: reviewFeedback has the open concerns."`))
		p.data = e.apply()
	}
}

func prefixed(feedback string) string {
	if strings.HasPrefix(feedback, CapPrefix) {
		return feedback
	}
	return CapPrefix + " " + feedback
}
