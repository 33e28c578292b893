package statuspage

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
)

// storiesTable is the plan of a loop, as JSON.
type storiesTable struct {
	Total int             `json:"total"`
	Done  int             `json:"done"`
	Mode  event.StoryMode `json:"mode,omitempty"`  // of the last iteration that began
	Story string          `json:"story,omitempty"` // the id of its story
	// Stories are the first of the plan, in its order.
	Stories []event.StoryState `json:"stories"`
	Reviews policy.ReviewTally `json:"reviews"`
}

// tableOf returns the plan of a loop; nil if it works without one.
func tableOf(s *loopstate.State) *storiesTable {
	t := s.Stories
	if !s.Rules.Stories || t.Total == 0 {
		return nil
	}
	return &storiesTable{Total: t.Total, Done: t.Done, Mode: t.Mode, Story: t.Story, Stories: t.States, Reviews: t.Tally}
}

// Bounds of the table: rows, and columns of an id and a title.
const (
	storyRows  = 50
	idMost     = 16
	titleMost  = 60
	statusMost = len("changes requested, 10 reviews")
)

// stories: what the iteration works on, the state of each story, and what the reviews found.
func (d *page) stories() {
	t := tableOf(d.State)
	if t == nil {
		return
	}
	text := fmt.Sprintf("%d of %d done", t.Done, t.Total)
	if t.Story != "" && d.Lifecycle.Phase != policy.Between {
		text += fmt.Sprintf("; now %s %s", t.Mode, t.Story)
	}
	d.add("stories", "%s", text)
	ids := 0
	for i := range t.Stories {
		ids = max(ids, render.Columns(shortened(t.Stories[i].ID, idMost)))
	}
	for i := range t.Stories[:min(len(t.Stories), storyRows)] {
		s := &t.Stories[i]
		d.add("", "%s  %s  %s", padded(shortened(s.ID, idMost), ids), padded(stateOf(s), statusMost), shortened(s.Title, titleMost))
	}
	if more := t.Total - min(len(t.Stories), storyRows); more > 0 {
		d.add("", "and %s", units.Quantity(more, "more story"))
	}
	if r := t.Reviews; r.Reviews > 0 {
		d.add("reviews", "%d: %d approved, %d with changes requested", r.Reviews, r.Approved, r.Changes)
		if r.AtCap > 0 {
			d.add("", "%s approved because review.cap was reached: look at what reviewFeedback says", units.Quantity(r.AtCap, "story"))
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
