package phrase

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
			title = units.FirstLine(s.Title)
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

// storiesRead is loud if all are done: else the iteration shows which story is next.
func storiesRead(p event.StoriesRead, _ Known) Phrase {
	switch {
	case p.Done && len(p.Stories) == 1:
		return good("the only story is done", "")
	case p.Done:
		return good("all "+units.Quantity(len(p.Stories), "story")+" are done", "")
	}
	why := StoriesSum(p.Stories)
	if does, _ := Story(p); does != "" {
		why = strings.TrimPrefix(why+"; next: "+does, "; ")
	}
	return quiet("tasks.json was read", why)
}

// storyProblemsShown is how many problems of tasks.json are shown of one iteration.
const storyProblemsShown = 10

func storiesJudged(p event.StoriesJudged, _ Known) Phrase {
	if len(p.Problems) == 0 {
		if p.Restored {
			return warning("tasks.json was restored", "")
		}
		return quiet("tasks.json was checked", StoriesSum(p.Stories))
	}
	var lines []string
	for i, problem := range p.Problems {
		if i == storyProblemsShown {
			lines = append(lines, "tasks.json has "+units.Quantity(len(p.Problems)-i, "more problem"))
			break
		}
		lines = append(lines, problem.Text)
		if problem.Undone && problem.Story != "" { // a text about the file says it
			lines = append(lines, "ralph corrected it")
		}
	}
	return warning(strings.Join(lines, "\n"), "")
}

func storyReviewed(p event.StoryReviewed, _ Known) Phrase {
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
	return Phrase{Tone: tone, Text: text}
}

func reviewUndone(p event.ReviewUndone, _ Known) Phrase {
	kept := ""
	if p.Ref != "" {
		kept = "\nkept in " + p.Ref
	}
	switch {
	case p.Story == "": // of an earlier runner
		return failure(p.Error+kept, "")
	case p.Refused && len(p.Others) > 0:
		files := slices.Compact(slices.Sorted(slices.Values(slices.Concat(p.Files, p.Others))))
		return warning("the review of "+p.Story+
			" does not count: the reviewer and perhaps a person changed files, which stay as they are", strings.Join(files, ", "))
	case len(p.Others) > 0:
		return good("files changed during the review of "+p.Story+", not by the reviewer: they stay as they are", strings.Join(p.Others, ", "))
	case p.Refused:
		return failure(colon("the review of "+p.Story+" does not count, since what the reviewer changed could not be undone", p.Error)+kept, "")
	case p.Error != "" && !p.Partly:
		return failure(colon("what the reviewer of "+p.Story+" changed could not be undone", p.Error)+kept, "")
	}
	text := "what the reviewer of " + p.Story + " changed was undone"
	if p.Commits > 0 {
		text += ", with " + units.Quantity(p.Commits, "commit")
	}
	text = colon(text, strings.Join(p.Files, ", "))
	if p.Partly {
		text += "\n" + p.Error
	}
	return warning(text+kept, "")
}
