package statuspage

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
)

// Bounds of the table: rows, and columns of an id and a title.
const (
	storyRows  = 50
	idMost     = 16
	titleMost  = 60
	statusMost = len("changes requested, 10 reviews")
)

// stories: what the iteration works on, the state of each story, and what the reviews found.
func (d *page) stories() {
	p := d.Plan
	if p == nil {
		return
	}
	text := fmt.Sprintf("%d of %d done", d.StoriesDone, d.Stories)
	if d.Open && d.Story != nil && d.Story.ID != "" {
		text += fmt.Sprintf("; now %s %s", d.Story.Mode, d.Story.ID)
	}
	d.add("stories", "%s", text)
	ids := 0
	for i := range p.Stories {
		ids = max(ids, render.Columns(shortened(p.Stories[i].ID, idMost)))
	}
	shown := p.Stories[:min(len(p.Stories), storyRows)]
	for i := range shown {
		s := &shown[i]
		d.add("", "%s  %s  %s", padded(shortened(s.ID, idMost), ids), padded(stateOf(s), statusMost), shortened(s.Title, titleMost))
	}
	if more := d.Stories - len(shown); more > 0 {
		d.add("", "and %s", units.Quantity(more, "more story"))
	}
	if p.Reviews > 0 {
		d.add("reviews", "%d: %d approved, %d with changes requested", p.Reviews, p.Approved, p.Changes)
		if p.AtCap > 0 {
			d.add("", "%s approved because review.cap was reached: look at what reviewFeedback says", units.Quantity(p.AtCap, "story"))
		}
	}
}

// stateOf is the state of a story in words.
func stateOf(s *event.StoryState) string {
	state := "not implemented"
	switch {
	case s.ReviewStatus == event.StoryApproved:
		state = "approved"
	case s.ReviewStatus == event.StoryChangesRequested:
		state = "changes requested"
	case s.ReviewStatus == event.StoryNeedsReview:
		state = "needs review"
	case s.ReviewStatus != "":
		state = render.Clean(string(s.ReviewStatus))
	case s.Passes:
		state = "passes"
	}
	if s.ReviewCount > 0 {
		state += ", " + units.Quantity(s.ReviewCount, "review")
	}
	return state
}

func shortened(text string, most int) string {
	return render.Cut(render.Clean(units.FirstLine(text)), most)
}

func padded(text string, columns int) string {
	return text + strings.Repeat(" ", max(columns-render.Columns(text), 0))
}
