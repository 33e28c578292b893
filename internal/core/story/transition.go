package story

import (
	"fmt"

	"github.com/ralph-loop/ralph/journal/event"
)

// transition checks a story that has changed, without regard to the other stories.
func transition(mode event.StoryMode, b event.StoryState, s *Story) []finding {
	c := change{mode: mode, before: b, after: s, state: s.State()}
	switch mode {
	case event.ModeImplement:
		c.implement()
	case event.ModeReview:
		c.review()
	case event.ModeReviewFix:
		c.fix()
	}
	return c.findings
}

// A change is what an iteration did to one story.
type change struct {
	mode     event.StoryMode
	before   event.StoryState
	after    *Story
	state    event.StoryState // of after
	findings []finding
}

func (c *change) wrong(field, format string, args ...any) {
	c.findings = append(c.findings, found(c.after.ID, field, restore, format, args...))
}

// moved reports a field that this mode may not change.
func (c *change) moved(field string, from, to any, advice string) {
	c.wrong(field, "%s changed from %v to %v, but %s iteration may not do that; %s", field, from, to, article(c.mode), advice)
}

func article(mode event.StoryMode) string {
	if mode == event.ModeImplement {
		return "an implement"
	}
	return "a " + string(mode)
}

func (c *change) implement() {
	const advice = "only a review may; set it back, and set reviewStatus to needs_review when the story is implemented"
	c.passesStays(advice)
	if from, to := c.before.ReviewStatus, c.state.ReviewStatus; from != to && (from != "" || to != event.StoryNeedsReview) {
		c.moved("reviewStatus", name(from), name(to), advice)
	}
	c.countStays(advice)
	c.feedbackStays()
	if len(c.findings) == 0 && c.before.Passes {
		c.wrong("passes", "reviewStatus changed from null to %s, but passes is true; a review must decide about the story", name(c.state.ReviewStatus))
	}
}

func (c *change) passesStays(advice string) {
	if c.before.Passes != c.state.Passes {
		c.moved("passes", c.before.Passes, c.state.Passes, advice)
	}
}

func (c *change) countStays(advice string) {
	if c.before.ReviewCount != c.state.ReviewCount {
		c.moved("reviewCount", c.before.ReviewCount, c.state.ReviewCount, advice)
	}
}

func (c *change) feedbackStays() {
	if !sameFeedback(c.before, c.state) {
		c.wrong("reviewFeedback", "reviewFeedback was changed, but it is the reviewer's; put it back as it was")
	}
}

func (c *change) review() {
	if modeOf(c.before) != event.ModeReview {
		const advice = "only a story with needs_review can be reviewed; put its review fields back as they were"
		field, from, to := c.first()
		c.moved(field, from, to, advice)
		return
	}
	if from, to := c.before.ReviewCount, c.state.ReviewCount; to != from+1 {
		c.wrong("reviewCount", "reviewCount changed from %d to %d, but a review adds 1 to it; set it to %d", from, to, from+1)
	}
	from, to, passes := c.before.ReviewStatus, c.state.ReviewStatus, c.state.Passes
	switch {
	case to == event.StoryApproved && !passes:
		c.wrong("passes", "reviewStatus changed from %s to approved, but passes is still false; set passes to true, or request changes", name(from))
	case to == event.StoryChangesRequested && passes:
		c.wrong("passes", "reviewStatus changed from %s to changes_requested, but passes is true; set passes to false", name(from))
	case to == event.StoryChangesRequested:
		c.findings = append(c.findings, emptyFeedback(c.after)...)
	case to == event.StoryApproved:
	case c.before.Passes != passes:
		c.moved("passes", c.before.Passes, passes, "set reviewStatus to approved together with passes")
	default:
		c.wrong("reviewStatus", "reviewStatus changed from %s to %s, but a review sets it to approved or changes_requested", name(from), name(to))
	}
}

func (c *change) fix() {
	const advice = "set it back, and set reviewStatus to needs_review when the feedback is addressed"
	if modeOf(c.before) != event.ModeReviewFix {
		field, from, to := c.first()
		c.moved(field, from, to, "only a story with changes_requested can be fixed; put its review fields back as they were")
		return
	}
	c.countStays(advice)
	switch to := c.state.ReviewStatus; {
	case to == event.StoryNeedsReview:
		if c.state.Passes {
			c.wrong("passes", "reviewStatus changed from changes_requested to needs_review, but passes is true; set passes to false")
		}
		if len(c.findings) == 0 && c.state.Feedback != noFeedback {
			c.findings = append(c.findings, found(c.after.ID, "reviewFeedback", clearFeedback,
				"reviewStatus changed from changes_requested to needs_review, but reviewFeedback still has a text; clear it"))
		}
	case to != c.before.ReviewStatus:
		c.moved("reviewStatus", name(c.before.ReviewStatus), name(to), advice)
	default:
		c.passesStays(advice)
		c.feedbackStays()
	}
}

// first returns the first field that has changed, and its values.
func (c *change) first() (field string, from, to any) {
	b, a := c.before, c.state
	switch {
	case b.Passes != a.Passes:
		return "passes", b.Passes, a.Passes
	case b.ReviewStatus != a.ReviewStatus:
		return "reviewStatus", name(b.ReviewStatus), name(a.ReviewStatus)
	case b.ReviewCount != a.ReviewCount:
		return "reviewCount", fmt.Sprint(b.ReviewCount), fmt.Sprint(a.ReviewCount)
	default:
		return "reviewFeedback", "its text", "another"
	}
}
