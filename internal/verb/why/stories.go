package why

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// storiesRead explains the mode and the story of an iteration.
func (t *trace) storiesRead(r *reason, p event.StoriesRead) {
	r.question = "Why does the iteration work on this story, in this mode?"
	r.keys = []string{"review.skip", "review.cap"}
	r.facts = append(r.facts, t.last[event.TypeStoriesJudged])
	switch {
	case p.Done:
		r.question, r.answer = "Why is no iteration begun?", "All stories of ralph/tasks.json are done."
	case p.Story == "":
		r.answer = "All stories are done, but the claim was refused: the iteration works on what is missing."
	case p.Mode == event.ModeReviewFix:
		r.answer = fmt.Sprintf("A review requested changes of %s. That comes before reviews and before new stories.", p.Story)
	case p.Mode == event.ModeReview:
		r.answer = fmt.Sprintf("%s is implemented and not reviewed yet, and no story has requested changes. A review comes before new stories.", p.Story)
	default:
		r.answer = fmt.Sprintf("No story waits for a review or a fix. Of the stories whose dependsOn are done, %s comes first by its priority.", p.Story)
	}
}

// storiesJudged explains what was put back.
func (t *trace) storiesJudged(r *reason, p event.StoriesJudged) {
	r.question = "Why was tasks.json judged so?"
	r.facts = append(r.facts, t.last[event.TypeStoriesRead])
	if len(p.Problems) == 0 {
		r.answer = fmt.Sprintf("The agent changed nothing that an iteration in mode %s may not change.", p.Mode)
		return
	}
	var texts []string
	for _, problem := range p.Problems {
		texts = append(texts, problem.Text)
	}
	r.answer = fmt.Sprintf("In mode %s: %s. The next prompt says so.", p.Mode, units.Cut(strings.Join(texts, "; "), 1000))
}
