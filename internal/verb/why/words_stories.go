package why

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
)

// ofStories says what happened to the stories of a plan.
func ofStories(p event.Payload) string {
	switch p := p.(type) {
	case event.StoriesRead:
		does, _ := render.Story(p)
		if does == "" {
			return joined("tasks.json was read", render.StoriesSum(p.Stories))
		}
		return joined("tasks.json was read", render.StoriesSum(p.Stories)) + "; next: " + does
	case event.StoriesJudged:
		text := joined("tasks.json was checked", render.StoriesSum(p.Stories))
		if n := len(p.Problems); n > 0 {
			text += "; " + units.Quantity(n, "problem")
		}
		return text
	case event.StoryReviewed, event.ReviewUndone:
		notes, _ := new(render.Notes).Of(p)
		var texts []string
		for _, n := range notes {
			texts = append(texts, units.FirstLine(n.Text))
		}
		return strings.Join(texts, "; ")
	}
	return ""
}
