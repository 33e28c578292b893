package story

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Statistics is what the reviews of a list came to.
type Statistics struct {
	Stories int `json:"stories"`
	Done    int `json:"done"`
	Reviews int `json:"reviews"` // of all stories, by reviewCount
	// Counts says how many stories had no review, one, two and so on; the last is not 0.
	Counts []int `json:"counts"`
	// Returned is how many reviews of this loop requested changes.
	Returned int `json:"returned"`
	// AtCap are the ids of stories that were approved because review.cap was reached: a person has
	// to look at them.
	AtCap []string `json:"atCap,omitempty"`
}

// Count computes the statistics from the last states of the stories and the reviews of the loop. It
// takes reviews by several reviewers as one, with the verdict that the last of them completed.
func Count(states []event.StoryState, reviewed []event.StoryReviewed, r Rules) Statistics {
	n := Statistics{Stories: len(states)}
	for _, b := range states {
		s := Story{Passes: b.Passes, ReviewStatus: b.ReviewStatus}
		if s.Done(r) {
			n.Done++
		}
		n.Reviews += b.ReviewCount
		// A person can have written any count; it must not cost memory.
		at := min(b.ReviewCount, maxCounted)
		for len(n.Counts) <= at {
			n.Counts = append(n.Counts, 0)
		}
		n.Counts[at]++
	}
	for _, v := range reviewed {
		switch {
		case v.Open:
		case v.AtCap:
			n.AtCap = append(n.AtCap, v.Story)
		case !v.Approved:
			n.Returned++
		}
	}
	return n
}

// maxCounted is the last of the counts that are told apart.
const maxCounted = 100

// Text says it in one line: "3 of 4 stories are done; 6 reviews, 2 of them requested changes;
// approved at the cap: US-003".
func (n Statistics) Text() string {
	stories := "stories are"
	if n.Stories == 1 {
		stories = "story is"
	}
	text := fmt.Sprintf("%d of %d %s done", n.Done, n.Stories, stories)
	if n.Reviews > 0 {
		text += "; " + units.Quantity(n.Reviews, "review")
	}
	if n.Returned > 0 {
		text += fmt.Sprintf(", %d of them requested changes", n.Returned)
	}
	if len(n.AtCap) > 0 {
		shown := n.AtCap[:min(len(n.AtCap), maxUndone)]
		text += "; approved at the cap: " + strings.Join(shown, ", ")
		if more := len(n.AtCap) - len(shown); more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
	}
	return text
}
