package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Story says what the iteration that comes next does with the stories of a plan: "review US-002",
// and the title of the story. Both are empty where the loop works without stories, and foreign.
func Story(p event.StoriesRead) (does, title string) {
	if p.Story == "" {
		return "", ""
	}
	for _, s := range p.Stories {
		if s.ID == p.Story {
			title = s.Title
		}
	}
	return string(p.Mode) + " " + p.Story, title
}

// StoriesSum says how many stories of a plan pass and how often they were reviewed: "2 of 3 stories
// pass · 3 reviews, 2 of them of US-002". It is empty for no stories, and foreign.
func StoriesSum(stories []event.StoryState) string {
	if len(stories) == 0 {
		return ""
	}
	passing, reviews, most := 0, 0, event.StoryState{}
	for _, s := range stories {
		if s.Passes {
			passing++
		}
		if reviews += s.ReviewCount; s.ReviewCount > most.ReviewCount {
			most = s
		}
	}
	text := fmt.Sprintf("%d of %s pass", passing, units.Quantity(len(stories), "story"))
	if reviews > 0 {
		text += " · " + units.Quantity(reviews, "review")
	}
	if most.ReviewCount > 1 && reviews > most.ReviewCount {
		text += fmt.Sprintf(", %d of them of %s", most.ReviewCount, most.ID)
	}
	return text
}

// ofStories describes what ralph found out about the stories of a plan. The beginning of an
// iteration shows which of them it is for.
func (n *Notes) ofStories(p event.Payload) (notes []Note, known bool) {
	switch p := p.(type) {
	case event.StoriesRead:
		if p.Done {
			return good("all " + units.Quantity(len(p.Stories), "story") + " are done"), true
		}
		return nil, true
	case event.StoriesJudged:
		return storiesJudged(p), true
	case event.StoryReviewed:
		return storyReviewed(p), true
	case event.ReviewUndone:
		return reviewUndone(p), true
	}
	return nil, false
}

// storyProblemsShown is how many problems of tasks.json are shown of one iteration.
const storyProblemsShown = 10

func storiesJudged(p event.StoriesJudged) (notes []Note) {
	if p.Restored && len(p.Problems) == 0 {
		notes = warning("tasks.json was restored")
	}
	for i, problem := range p.Problems {
		if i == storyProblemsShown {
			return append(notes, warning("tasks.json has "+units.Quantity(len(p.Problems)-i, "more problem"))...)
		}
		text := problem.Text
		if problem.Undone && problem.Story != "" { // a text about the file says it
			text += "\nralph put it back"
		}
		notes = append(notes, warning(text)...)
	}
	return notes
}

func storyReviewed(p event.StoryReviewed) []Note {
	by := ""
	if p.Agent != "" {
		by = " by " + p.Agent
	}
	text := fmt.Sprintf("%s approved%s in review %d", p.Story, by, p.Count)
	tone := ToneGood
	switch {
	case !p.Approved:
		text = fmt.Sprintf("changes of %s requested%s in review %d", p.Story, by, p.Count)
		tone = ToneWarning
	case p.AtCap:
		text += ", the last that review.cap allows"
		tone = ToneWarning
	}
	if p.Open {
		text += "; other reviewers have not voted yet"
	}
	if feedback := strings.TrimSpace(p.Feedback); feedback != "" {
		text += "\n" + feedback
	}
	return note(tone, text)
}

func reviewUndone(p event.ReviewUndone) []Note {
	switch {
	case p.Story == "": // of an earlier runner
		return failure(keptIn(p.Error, p.Ref))
	case p.Refused && len(p.Others) > 0:
		return warning(colon("the review of "+p.Story+" does not count: the reviewer and perhaps a person changed files, which stay as they are", strings.Join(slices.Compact(slices.Sorted(slices.Values(slices.Concat(p.Files, p.Others)))), ", ")))
	case len(p.Others) > 0:
		return good(colon("files changed during the review of "+p.Story+", not by the reviewer: they stay as they are", strings.Join(p.Others, ", ")))
	case p.Refused:
		return failure(keptIn(colon("the review of "+p.Story+" does not count, since what the reviewer changed could not be undone", p.Error), p.Ref))
	case p.Error != "" && !p.Partly:
		return failure(keptIn(colon("what the reviewer of "+p.Story+" changed could not be undone", p.Error), p.Ref))
	}
	text := "what the reviewer of " + p.Story + " changed was undone"
	if p.Commits > 0 {
		text += ", with " + units.Quantity(p.Commits, "commit")
	}
	text = colon(text, strings.Join(p.Files, ", "))
	if p.Partly {
		text += "\n" + p.Error
	}
	return warning(keptIn(text, p.Ref))
}

func keptIn(text, ref string) string {
	if ref != "" {
		text += "\nkept in " + ref
	}
	return text
}
