package story

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

const (
	maxProblems = 20   // problems of a file that are reported
	maxItems    = 1000 // entries of a list of texts
	maxQuoted   = 40   // characters of a value in a message
)

// A checker collects what is wrong with the form of a file.
type checker struct {
	file     *file
	problems []event.StoryProblem
	more     int
}

// problem adds what is wrong with a field of the story at an index; -1 is the file itself.
func (c *checker) problem(i int, field, text string) {
	p := event.StoryProblem{Field: field}
	subject := "tasks.json"
	if i >= 0 {
		p.Story = c.file.list.Stories[i].ID
		subject = c.name(i)
	}
	c.file.wrong[i] = append(c.file.wrong[i], field)
	if len(c.problems) == maxProblems {
		c.more++
		return
	}
	if field != "" {
		subject += ", field " + field
	}
	p.Text = subject + ": " + text
	c.problems = append(c.problems, p)
}

// name is how messages call the story at an index.
func (c *checker) name(i int) string {
	if id := c.file.list.Stories[i].ID; id != "" {
		return "story " + id
	}
	return fmt.Sprintf("the story at place %d of userStories", i+1)
}

// all returns the problems, bounded.
func (c *checker) all() []event.StoryProblem {
	if c.more == 0 {
		return c.problems
	}
	return append(c.problems, event.StoryProblem{Text: moreProblems(c.more)})
}

func moreProblems(n int) string {
	if n == 1 {
		return "tasks.json has 1 more problem"
	}
	return fmt.Sprintf("tasks.json has %d more problems", n)
}

// header reads the fields beside the stories.
func (c *checker) header() {
	f := c.file
	c.once(-1, &f.top)
	f.list.Project = c.text(-1, &f.top, "project", required)
	f.list.BranchName = c.text(-1, &f.top, "branchName", required)
	f.list.Description = c.text(-1, &f.top, "description", required)
	f.list.VerifyCommands = c.texts(-1, &f.top, "verifyCommands", optional)
}

// story reads one entry of userStories.
func (c *checker) story(i int) {
	o, s := &c.file.stories[i], &c.file.list.Stories[i]
	if raw := o.at.of(c.file.data); !jsonscan.IsObject(raw) {
		c.problem(i, "", wrongType(raw, "an object"))
		return
	}
	s.ID = c.id(i, o)
	c.once(i, o)
	s.Title = c.text(i, o, "title", filled)
	s.Description = c.text(i, o, "description", optional)
	s.AcceptanceCriteria = c.texts(i, o, "acceptanceCriteria", filled)
	s.Priority = c.number(i, o, "priority")
	s.Passes = c.boolean(i, o, "passes")
	s.ReviewStatus = c.status(i, o)
	s.ReviewCount = c.count(i, o)
	s.ReviewFeedback = c.text(i, o, "reviewFeedback", required)
	s.Notes = c.text(i, o, "notes", optional)
	s.DependsOn = c.texts(i, o, "dependsOn", optional)
	if s.Passes && strings.TrimSpace(s.Notes) == "" && !slices.Contains(c.file.wrong[i], "notes") {
		c.problem(i, "notes", "it is empty, but the story passes: write what was done")
	}
}

// once reports a field that an object has twice: programs differ in which one they read.
func (c *checker) once(i int, o *object) {
	if name, ok := o.twice(); ok {
		c.problem(i, units.Cut(name, maxQuoted), "the field is there twice: remove one")
	}
}

// A need is what a field must have.
type need int

const (
	optional need = iota // it may be missing
	required             // it may be empty
	filled               // it has content
)

// value returns the bytes of a field; nil if it is missing, which is reported if it may not be.
func (c *checker) value(i int, o *object, name string, n need) []byte {
	m, ok := o.get(name)
	if !ok {
		if n != optional {
			c.problem(i, name, "the field is missing")
		}
		return nil
	}
	return m.value.of(c.file.data)
}

func (c *checker) text(i int, o *object, name string, n need) string {
	raw := c.value(i, o, name, n)
	if raw == nil {
		return ""
	}
	if !jsonscan.IsString(raw) {
		c.problem(i, name, wrongType(raw, "a string"))
		return ""
	}
	text := jsonscan.Unquote(raw)
	if n == filled && strings.TrimSpace(text) == "" {
		c.problem(i, name, "it is empty")
	}
	return text
}

func (c *checker) texts(i int, o *object, name string, n need) []string {
	raw := c.value(i, o, name, n)
	if raw == nil {
		return nil
	}
	if !jsonscan.IsArray(raw) {
		c.problem(i, name, wrongType(raw, "an array of strings"))
		return nil
	}
	items := scanArray(raw, span{0, len(raw)}, maxItems+1)
	switch {
	case len(items) > maxItems:
		c.problem(i, name, fmt.Sprintf("it has more than %d entries", maxItems))
		return nil
	case len(items) == 0 && n == filled:
		c.problem(i, name, "it is empty: add an entry that can be checked")
	}
	texts := make([]string, 0, len(items))
	for k, at := range items {
		item := at.of(raw)
		switch text := jsonscan.Unquote(item); {
		case !jsonscan.IsString(item):
			c.problem(i, name, fmt.Sprintf("entry %d is %s, but must be a string", k+1, quoted(item)))
			return nil
		case strings.TrimSpace(text) == "":
			c.problem(i, name, fmt.Sprintf("entry %d is empty", k+1))
		default:
			texts = append(texts, text)
		}
	}
	return texts
}

func (c *checker) number(i int, o *object, name string) float64 {
	raw := c.value(i, o, name, required)
	if raw == nil {
		return 0
	}
	number, ok := jsonscan.Float(raw)
	if !ok {
		c.problem(i, name, wrongType(raw, "a number"))
	}
	return number
}

func (c *checker) boolean(i int, o *object, name string) bool {
	raw := c.value(i, o, name, required)
	if raw == nil {
		return false
	}
	b, ok := jsonscan.Bool(raw)
	if !ok {
		c.problem(i, name, wrongType(raw, "true or false"))
	}
	return b
}

func (c *checker) status(i int, o *object) event.StoryStatus {
	const name, choice = "reviewStatus", `null, "needs_review", "changes_requested" or "approved"`
	raw := c.value(i, o, name, required)
	if raw == nil || jsonscan.IsNull(raw) {
		return ""
	}
	if jsonscan.IsString(raw) {
		switch status := event.StoryStatus(jsonscan.Unquote(raw)); status {
		case event.StoryNeedsReview, event.StoryChangesRequested, event.StoryApproved:
			return status
		}
	}
	c.problem(i, name, wrongType(raw, choice))
	return ""
}

func (c *checker) count(i int, o *object) int {
	const name = "reviewCount"
	raw := c.value(i, o, name, required)
	if raw == nil {
		return 0
	}
	count, ok := jsonscan.Int(raw)
	if !ok || count < 0 || count > maxCount {
		c.problem(i, name, wrongType(raw, "an integer from 0"))
		return 0
	}
	return int(count)
}

// maxCount is far above every number of reviews, and one more of it is still an int.
const maxCount = 1_000_000

func (c *checker) id(i int, o *object) string {
	id := c.text(i, o, "id", filled)
	switch {
	case utf8.RuneCountInString(id) > maxID:
		c.problem(i, "id", fmt.Sprintf("it has more than %d characters", maxID))
		return ""
	case strings.ContainsFunc(id, unprintable):
		c.problem(i, "id", "it has a character that cannot be printed")
		return ""
	case id != strings.TrimSpace(id):
		c.problem(i, "id", "it begins or ends with a blank")
		return ""
	}
	return id
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// wrongType says what a value is and what it must be.
func wrongType(raw []byte, want string) string {
	return "it is " + quoted(raw) + ", but must be " + want
}

// quoted names the type of a value, and the value where it is short.
func quoted(raw []byte) string {
	kind := kindOf(raw)
	switch raw[0] {
	case '{', '[', 'n':
		return kind
	}
	text := string(raw)
	if raw[0] == '"' {
		text = fmt.Sprintf("%q", units.Cut(jsonscan.Unquote(raw), maxQuoted))
	}
	return kind + " (" + units.Cut(text, maxQuoted) + ")"
}
