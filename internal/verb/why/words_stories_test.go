package why

import (
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
)

func TestWordsOfStories(t *testing.T) {
	stories := []event.StoryState{{ID: "US-001", Passes: true, ReviewCount: 1}, {ID: "US-002"}}
	for want, p := range map[string]event.Payload{
		"tasks.json was read: 1 of 2 stories pass · 1 review; next: review US-002":   event.StoriesRead{Mode: event.ModeReview, Story: "US-002", Stories: stories},
		"tasks.json was read: 1 of 2 stories pass · 1 review":                        event.StoriesRead{Stories: stories},
		"tasks.json was checked: 1 of 2 stories pass · 1 review; 1 problem":          event.StoriesJudged{Stories: stories, Problems: make([]event.StoryProblem, 1)},
		"changes of US-002 requested in review 1":                                    event.StoryReviewed{Story: "US-002", Count: 1, Feedback: "x"},
		"what the reviewer of US-002 changed could not be undone: git reset: failed": event.ReviewUndone{Story: "US-002", Error: "git reset: failed"},
		"": event.LoopPaused{},
	} {
		if got := ofStories(p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
