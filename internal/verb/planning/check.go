package planning

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/core/story"
	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

// Bounds of a story that one iteration can implement. They are rules of thumb: a story beyond them
// is only a warning.
const (
	maxSentences   = 4   // of a description: what needs more than two or three is too large
	maxDescription = 700 // characters
	maxCriteria    = 8
	minCriterion   = 8 // characters: a shorter criterion names nothing that can be checked
	maxFindings    = 100
)

// Finding is one thing that is wrong with a plan.
type Finding struct {
	// Error says that no loop can work on the plan. Else the finding is a warning: a loop works,
	// but probably not well.
	Error bool   `json:"error"`
	Story string `json:"story,omitempty"` // id; empty if it concerns the whole file
	Field string `json:"field,omitempty"`
	Text  string `json:"text"`
}

// Checked is what is known of a plan.
type Checked struct {
	Findings []Finding `json:"findings"`
	Stories  int       `json:"stories"`
	Done     int       `json:"done"`
	// Least and Likely are the iterations that the open stories need with reviews.
	Least  int `json:"least"`
	Likely int `json:"likely"`

	missing bool // there is no tasks.json
}

// Errors reports whether no loop can work on the plan.
func (c Checked) Errors() bool {
	for _, f := range c.Findings {
		if f.Error {
			return true
		}
	}
	return false
}

// Check reads the plan of a project and returns what is wrong with it.
func Check(project string) Checked {
	c := Checked{Findings: []Finding{}}
	if !plan.Exists(project) {
		c.missing = true
		c.fail("", "", "there is no ralph/tasks.json")
		return c
	}
	prd, err := plan.Read(project, plan.PRD)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.warn("there is no prd.md: the iterations know nothing but their story")
	case err != nil:
		c.fail("", "", "prd.md cannot be used: %v", err)
	case plan.IsTemplate(prd):
		c.warn("prd.md has no content yet: the iterations know nothing but their story")
	}
	tasks, err := plan.ReadTasks(project)
	if err != nil {
		c.fail("", "", "tasks.json cannot be used: %v", err)
		return c
	}
	list, problems := story.Parse(tasks)
	if list != nil && untouched(list) {
		c.fail("", "userStories", "tasks.json has nothing but the template's empty story")
		return c
	}
	for _, p := range problems {
		c.Findings = append(c.Findings, Finding{Error: true, Story: p.Story, Field: p.Field, Text: p.Text})
	}
	if list != nil {
		c.list(list, worked(project))
	}
	if more := len(c.Findings) - maxFindings; more > 0 {
		c.Findings = c.Findings[:maxFindings]
		c.warn("%d more warnings are left out", more)
	}
	return c
}

// untouched reports whether a list is that of the template.
func untouched(list *story.List) bool {
	return len(list.Stories) == 1 && list.Stories[0].Title == "" && len(list.Stories[0].AcceptanceCriteria) == 0
}

// worked reports whether an iteration has written in progress.txt: then stories have other values
// than those that they begin with.
func worked(project string) bool {
	progress, err := plan.Read(project, plan.Progress)
	if err != nil {
		return false
	}
	_, entries, found := strings.Cut(strings.ReplaceAll(string(progress), "\r\n", "\n"), "\n---\n")
	return found && strings.TrimSpace(entries) != ""
}

func (c *Checked) fail(id, field, format string, args ...any) {
	c.Findings = append(c.Findings, Finding{Error: true, Story: id, Field: field, Text: fmt.Sprintf(format, args...)})
}

func (c *Checked) warn(format string, args ...any) {
	c.Findings = append(c.Findings, Finding{Text: fmt.Sprintf(format, args...)})
}

// about is warn for a field of a story; the text begins as those of internal/core/story do.
func (c *Checked) about(s *story.Story, field, format string, args ...any) {
	text := fmt.Sprintf("story %s, field %s: ", s.ID, field) + fmt.Sprintf(format, args...)
	c.Findings = append(c.Findings, Finding{Story: s.ID, Field: field, Text: text})
}

// list checks a list of stories, beyond its form.
func (c *Checked) list(list *story.List, worked bool) {
	rules := story.Rules{Cap: 5}
	c.Stories = len(list.Stories)
	c.Least, c.Likely = list.Estimate(rules)
	if len(list.VerifyCommands) == 0 {
		c.Findings = append(c.Findings, Finding{Field: "verifyCommands",
			Text: "tasks.json, field verifyCommands: it is empty, so that ralph runs no test, lint or type check after an iteration"})
	}
	titles, priorities := map[string]string{}, map[string]float64{}
	for _, s := range list.Stories {
		priorities[s.ID] = s.Priority
	}
	for i := range list.Stories {
		s := &list.Stories[i]
		if s.Done(rules) {
			c.Done++
			continue // what was wrong with it does not matter any more
		}
		c.size(s)
		c.criteria(s)
		c.order(s, priorities)
		if !worked {
			c.startValues(s)
		}
		if other, twice := titles[strings.ToLower(s.Title)]; twice && s.Title != "" {
			c.about(s, "title", "story %s has the same one", other)
		}
		titles[strings.ToLower(s.Title)] = s.ID
	}
}

// sentence finds the end of a sentence. The number 1.5 and the file prd.md have none.
var sentence = units.Pattern(`[.!?](?:\s|$)|\n\s*[-*\d]`)

func (c *Checked) size(s *story.Story) {
	description := strings.TrimSpace(s.Description)
	switch {
	case description == "":
		c.about(s, "description", "it is empty: describe the change in two or three sentences")
	case utf8.RuneCountInString(description) > maxDescription, len(sentence().FindAllStringIndex(description, maxSentences+1)) > maxSentences:
		c.about(s, "description", "a change that takes more than %d sentences is probably too large for one iteration: split the story", maxSentences)
	}
	if n := len(s.AcceptanceCriteria); n > maxCriteria {
		c.about(s, "acceptanceCriteria", "a story with %d of them is probably too large for one iteration: split it", n)
	}
}

func (c *Checked) criteria(s *story.Story) {
	for _, text := range s.AcceptanceCriteria {
		if word := vague(text); word != "" {
			c.about(s, "acceptanceCriteria", "%q cannot be checked, because of %q: say what is seen, returned or printed", units.Cut(text, 80), word)
		} else if utf8.RuneCountInString(strings.TrimSpace(text)) < minCriterion {
			c.about(s, "acceptanceCriteria", "%q is too short to be checked: say what is seen, returned or printed", text)
		}
	}
}

// order warns of a story that comes before one it depends on: it waits, but people read the list in
// the order of priorities.
func (c *Checked) order(s *story.Story, priorities map[string]float64) {
	for _, id := range s.DependsOn {
		if needed, ok := priorities[id]; ok && needed > s.Priority {
			c.about(s, "priority", "it is %v, and the story depends on %s with priority %v: what comes first needs the lower number", s.Priority, id, needed)
		}
	}
}

// startValues warns of a story that no iteration has worked on and that does not begin at the
// beginning.
func (c *Checked) startValues(s *story.Story) {
	field := ""
	switch {
	case s.Passes:
		field = "passes"
	case s.ReviewStatus != "":
		field = "reviewStatus"
	case s.ReviewCount != 0:
		field = "reviewCount"
	case s.ReviewFeedback != "":
		field = "reviewFeedback"
	default:
		return
	}
	c.about(s, field, "no iteration has worked on the plan: a story begins with passes false, reviewStatus null, reviewCount 0 and an empty reviewFeedback")
}

// Print prints what was found, for a person.
func (c Checked) Print(w io.Writer) error {
	var text strings.Builder
	for _, f := range c.Findings {
		kind := "warning"
		if f.Error {
			kind = "error"
		}
		fmt.Fprintf(&text, "%s: %s\n", kind, cli.Clean(f.Text))
	}
	if c.Stories > 0 {
		fmt.Fprintf(&text, "%s, %d done; with reviews about %d to %d iterations\n", quantity(c.Stories), c.Done, c.Least, c.Likely)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// Exit returns the error of a plan that no loop can work on, or, if strict is set, of one with
// warnings: exit code 2.
func (c Checked) Exit(strict bool) error {
	switch {
	case c.missing:
		return cli.Refuse("'ralph init --tasks' lays out a plan", "there is no plan to check")
	case c.Errors():
		return cli.Refuse("correct tasks.json, or let your agent do it: 'ralph plan'", "no loop can work on this plan")
	case strict && len(c.Findings) > 0:
		return cli.Refuse("without --strict, warnings are no error", "the plan has warnings")
	}
	return nil
}

func quantity(stories int) string {
	if stories == 1 {
		return "1 story"
	}
	return fmt.Sprintf("%d stories", stories)
}
