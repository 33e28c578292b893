package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Plan is what became of the stories of a loop that works on a plan.
type Plan struct {
	Total   int     `json:"total"`
	Done    int     `json:"done"`
	Stories []Story `json:"stories"` // the first of them, in their order

	// Reviews counts the verdicts that the journal has; those of several reviewers one by one.
	Reviews  int `json:"reviews"`
	Approved int `json:"approved"` // with those at the cap
	Changes  int `json:"changesRequested"`
	AtCap    int `json:"atCap"` // approved because review.cap was reached
	Undone   int `json:"undone"`
	Refused  int `json:"refused,omitempty"` // gave no verdict, because a person may have changed files
	// Kept are the last refs that keep what was undone, which may be a person's.
	Kept    []string `json:"kept,omitempty"`
	PutBack int      `json:"putBack"` // changes of tasks.json

	// Others is what the iterations used that implement and correct, Reviewers what those used that
	// review, by their agent.
	Others    Amount  `json:"others"`
	Reviewers []Spent `json:"reviewers"`
}

// Story is the state of one story.
type Story struct {
	ID      string            `json:"id"`
	Title   string            `json:"title,omitempty"`
	Passes  bool              `json:"passes"`
	Status  event.StoryStatus `json:"reviewStatus,omitempty"`
	Reviews int               `json:"reviewCount"`
	AtCap   bool              `json:"atCap,omitempty"`
	// Feedback is the beginning of what the last verdict said.
	Feedback string `json:"feedback,omitempty"`
}

const feedbackShown = 300 // characters

// State is the state of a story in words.
func (s Story) State() string {
	switch {
	case s.AtCap:
		return "approved at the cap"
	case s.Status == event.StoryApproved:
		return "approved"
	case s.Status == event.StoryChangesRequested:
		return "changes requested"
	case s.Status == event.StoryNeedsReview:
		return "needs review"
	case s.Passes:
		return "passes"
	}
	return "not implemented"
}

// storiesKept is how many stories a report has.
const storiesKept = 500

// ofStories takes in the states of the stories, and what reviews found.
func (f *Fold) ofStories(p event.Payload) {
	plan := f.report.Plan
	switch p := p.(type) {
	case event.StoriesRead:
		if plan == nil {
			plan = &Plan{Stories: []Story{}, Reviewers: []Spent{}}
			f.report.Plan = plan
		}
		plan.take(p.Stories)
		f.story = line(p.Story)
	case event.StoriesJudged:
		if plan == nil {
			return
		}
		plan.take(p.Stories)
		for _, problem := range p.Problems {
			if problem.Undone {
				plan.PutBack++
			}
		}
	case event.StoryReviewed:
		if plan != nil {
			plan.reviewed(p)
		}
	case event.ReviewUndone:
		if plan != nil && (p.Error == "" && len(p.Others) == 0 || p.Partly) {
			plan.Undone++
		}
		if plan != nil && p.Refused {
			plan.Refused++
		}
		if plan != nil && p.Ref != "" {
			plan.Kept = append(plan.Kept, line(p.Ref))
			plan.Kept = plan.Kept[max(0, len(plan.Kept)-keptShown):]
		}
	}
}

// keptShown is how many refs a report names.
const keptShown = 3

// take takes over the states of all stories. Which of them were approved at the cap is remembered.
func (plan *Plan) take(states []event.StoryState) {
	was := plan.Stories
	plan.Stories = make([]Story, 0, min(len(states), storiesKept))
	for _, s := range states[:min(len(states), storiesKept)] {
		story := Story{ID: line(s.ID), Title: line(s.Title), Passes: s.Passes, Status: word(s.ReviewStatus), Reviews: s.ReviewCount}
		if i := slices.IndexFunc(was, func(w Story) bool { return w.ID == story.ID }); i >= 0 {
			story.AtCap = s.ReviewStatus == event.StoryApproved && was[i].AtCap
			story.Feedback = was[i].Feedback
		}
		plan.Stories = append(plan.Stories, story)
	}
}

func (plan *Plan) reviewed(p event.StoryReviewed) {
	plan.Reviews++
	i := slices.IndexFunc(plan.Stories, func(s Story) bool { return s.ID == line(p.Story) })
	if i >= 0 {
		plan.Stories[i].Feedback = units.Cut(strings.Join(strings.Fields(text(p.Feedback)), " "), feedbackShown)
	}
	if !p.Approved {
		plan.Changes++
		return
	}
	plan.Approved++
	if !p.AtCap {
		return
	}
	plan.AtCap++
	if i >= 0 {
		plan.Stories[i].AtCap = true
	}
}

// spent adds what an iteration of an agent used.
func (plan *Plan) spent(i *Iteration, agent string) {
	if i.Mode != event.ModeReview {
		plan.Others.add(i.Used)
		return
	}
	at := slices.IndexFunc(plan.Reviewers, func(s Spent) bool { return s.Agent == agent })
	if at < 0 {
		at = len(plan.Reviewers)
		plan.Reviewers = append(plan.Reviewers, Spent{Agent: agent})
	}
	plan.Reviewers[at].Used.add(i.Used)
}

// Does says what an iteration does with which story; empty if the loop has no plan.
func (i *Iteration) Does() string {
	if i.Story == "" {
		return ""
	}
	return strings.TrimSpace(string(i.Mode) + " " + i.Story)
}

// Verdicts says what the reviews came to.
func (plan *Plan) Verdicts() string {
	if plan.Reviews == 0 {
		return "No story was reviewed."
	}
	said := fmt.Sprintf("%s: %d approved, %d with changes requested.", units.Quantity(plan.Reviews, "review"), plan.Approved, plan.Changes)
	if plan.AtCap > 0 {
		said += fmt.Sprintf(" %s approved because review.cap was reached: the open concerns are in reviewFeedback.", units.Quantity(plan.AtCap, "story"))
	}
	if plan.Undone > 0 {
		said += fmt.Sprintf(" What a reviewer changed was undone %s.", units.Times(plan.Undone))
	}
	if plan.Refused > 0 {
		said += " " + units.Quantity(plan.Refused, "review") + " did not count: files changed, and not only by the reviewer."
	}
	if len(plan.Kept) > 0 {
		said += fmt.Sprintf(" Files as they were found, also a person's, are kept: 'ralph rollback' with one of these names brings them back: %s.", strings.Join(plan.Kept, ", "))
	}
	if plan.PutBack > 0 {
		said += " " + units.Quantity(plan.PutBack, "change") + " of tasks.json put back."
	}
	return said
}

// Shares says what reviews cost, and what all other iterations cost.
func (plan *Plan) Shares() string {
	if len(plan.Reviewers) == 0 {
		return ""
	}
	var parts []string
	for _, s := range plan.Reviewers {
		part := s.Used.Cost()
		if s.Agent != "" {
			part = s.Agent + " " + part
		}
		parts = append(parts, part)
	}
	return fmt.Sprintf("Cost of the iterations that review: %s; of all others: %s.", strings.Join(parts, ", "), plan.Others.Cost())
}

// stories writes the stories of a plan as text.
func (t *document) stories(plan *Plan) {
	if plan == nil {
		return
	}
	t.add("\n## Stories\n\n%s\n", plain(plan.Verdicts()))
	if shares := plan.Shares(); shares != "" {
		t.add("%s\n", plain(shares))
	}
	t.add("\n| story | title | state | reviews | last feedback |\n|---|---|---|---|---|\n")
	for _, s := range plan.Stories {
		t.add("| %s | %s | %s | %d | %s |\n", plain(s.ID), plain(s.Title), s.State(), s.Reviews, plain(s.Feedback))
	}
}
