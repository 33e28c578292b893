package planning

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/story"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

// summary is what summary.md of an archive says.
type summary struct {
	list     *story.List // nil if tasks.json cannot be read
	progress string      // progress.txt
	loops    []loop      // of the project, that worked on stories
	last     time.Time   // when the plan before this one was archived; zero if there was none
	now      time.Time
}

// rules are those by which a story counts as done here: passed, and approved unless the loop had no
// reviews.
func isDone(s *story.Story) bool {
	return s.Done(story.Rules{Cap: 1}) || s.Passes && s.ReviewStatus == ""
}

func countDone(list *story.List) (done int) {
	for i := range list.Stories {
		if isDone(&list.Stories[i]) {
			done++
		}
	}
	return done
}

func (s summary) text() string {
	var b strings.Builder
	title := "Plan"
	if s.list != nil && s.list.Project != "" {
		title = "Plan: " + cell(s.list.Project)
	}
	fmt.Fprintf(&b, "# %s\n\n", title)
	if s.list == nil {
		b.WriteString("tasks.json could not be read; it is archived as it was.\n\n")
	} else {
		s.head(&b)
	}
	began := s.began()
	fmt.Fprintf(&b, "- Dates: %s\n", dates(began, s.now))
	worked := s.workedSince(began)
	if s.list != nil {
		s.stories(&b)
		s.atCap(&b)
	}
	tableOfLoops(&b, worked, s.now)
	return b.String()
}

func (s summary) head(b *strings.Builder) {
	if s.list.Description != "" {
		fmt.Fprintf(b, "%s\n\n", cell(s.list.Description))
	}
	reviews, capped := 0, 0
	for i := range s.list.Stories {
		reviews += s.list.Stories[i].ReviewCount
		if approvedAtCap(&s.list.Stories[i]) {
			capped++
		}
	}
	fmt.Fprintf(b, "- Stories: %d of %d done\n- Reviews: %d; %d of the stories were approved at the cap\n- Branch: %s\n",
		countDone(s.list), len(s.list.Stories), reviews, capped, cell(s.list.BranchName))
}

func approvedAtCap(s *story.Story) bool { return strings.HasPrefix(s.ReviewFeedback, story.CapPrefix) }

// began returns when the plan was begun: as progress.txt says, else when its first loop was
// started, else when the plan before was archived; zero if none of that is known.
func (s summary) began() time.Time {
	for line := range strings.Lines(s.progress) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "Started: "); ok {
			if at, err := time.ParseInLocation(time.DateOnly, text, s.now.Location()); err == nil && !at.After(s.now) {
				return at
			}
		}
	}
	if worked := s.workedSince(time.Time{}); len(worked) > 0 {
		return worked[0].Started
	}
	return s.last
}

// workedSince leaves out the loops of earlier plans.
func (s summary) workedSince(began time.Time) (since []loop) {
	for _, l := range s.loops {
		if !l.Started.Before(began) && l.Started.After(s.last) {
			since = append(since, l)
		}
	}
	return since
}

func dates(from, to time.Time) string {
	if from.IsZero() {
		return "until " + to.Format(time.DateOnly)
	}
	return from.In(to.Location()).Format(time.DateOnly) + " to " + to.Format(time.DateOnly)
}

func (s summary) stories(b *strings.Builder) {
	b.WriteString("\n## Stories\n\n| story | title | state | reviews |\n|---|---|---|---|\n")
	for i := range s.list.Stories {
		one := &s.list.Stories[i]
		fmt.Fprintf(b, "| %s | %s | %s | %d |\n", cell(one.ID), cell(one.Title), stateOf(one), one.ReviewCount)
	}
}

// stateOf says in words how far a story is.
func stateOf(s *story.Story) string {
	switch {
	case isDone(s) && approvedAtCap(s):
		return "done, approved at the cap"
	case isDone(s) && s.ReviewStatus == "":
		return "done, not reviewed"
	case isDone(s):
		return "done"
	case s.ReviewStatus == event.StoryNeedsReview:
		return "needs a review"
	case s.ReviewStatus == event.StoryChangesRequested:
		return "changes requested"
	case s.Passes, s.ReviewStatus != "":
		return "not done: passes and reviewStatus contradict each other"
	}
	return "not begun"
}

// atCap lists what reviews left open.
func (s summary) atCap(b *strings.Builder) {
	heading := "\n## Open after the last review\n\n"
	for i := range s.list.Stories {
		if one := &s.list.Stories[i]; approvedAtCap(one) {
			fmt.Fprintf(b, "%s- %s: %s\n", heading, cell(one.ID), cell(strings.TrimSpace(strings.TrimPrefix(one.ReviewFeedback, story.CapPrefix))))
			heading = ""
		}
	}
}

func tableOfLoops(b *strings.Builder, worked []loop, now time.Time) {
	if len(worked) == 0 {
		return
	}
	b.WriteString("\n## Loops\n\n| loop | started | status | iterations | agent | cost |\n|---|---|---|---|---|---|\n")
	total, known := 0.0, true
	for _, l := range worked {
		head := headOf(l)
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", cell(l.Name), l.Started.In(now.Location()).Format(time.DateOnly), cell(string(head.Status)),
			cli.CountOf(head).Number(), cell(head.Agent), units.Cost(head.Cost))
		if head.Cost == nil {
			known = false
		} else {
			total += *head.Cost
		}
	}
	switch {
	case known:
		fmt.Fprintf(b, "\nTotal cost: %s\n", units.Cost(&total))
	case total > 0:
		fmt.Fprintf(b, "\nTotal cost: at least %s, as some of it is unknown\n", units.Cost(&total))
	}
}

// headOf returns what a list shows of a loop, from its journal if state.json does not say.
func headOf(l loop) registry.Summary {
	if l.state.Begun() {
		return l.state.Summary()
	}
	return l.Head
}

// cell is foreign text for one line of Markdown, without signs that would end a cell of a table or
// begin a tag.
func cell(text string) string {
	text = render.Clean(units.Cut(strings.Join(strings.Fields(text), " "), 300))
	return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(text)
}
