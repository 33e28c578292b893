package tui

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render"
)

// needsPerson reports whether nothing happens until a person acts.
func (m *model) needsPerson() bool {
	v := m.view
	if v.Ended != nil {
		return v.Ended.Reason.ExitCode() == event.ExitPerson
	}
	return !m.over && waitsForPerson(v)
}

func waitsForPerson(v projector.View) bool {
	return v.Ended == nil && v.Status == event.StatusWaiting && v.Until.IsZero()
}

// openQuestions are those of the agent without an answer, the ones that the loop waits for first.
func openQuestions(v projector.View) []projector.Question {
	var awaited, others []projector.Question
	for _, q := range v.Questions {
		switch {
		case !q.Open():
		case q.Number == v.Awaited:
			awaited = append(awaited, q)
		default:
			others = append(others, q)
		}
	}
	return append(awaited, others...)
}

// question is what the loop needs of a person, in its own words.
func (m *model) question() string {
	v := m.view
	text := v.Waiting
	if v.Ended != nil {
		text = v.Ended.Why
		if text == "" {
			text = v.Ended.Hint
		}
	}
	text = strings.TrimPrefix(text, event.WaitPerson.String()+": ")
	if text = strings.TrimSpace(text); text == "" {
		return "the loop waits for you"
	}
	return string(render.CleanText(text))
}

// How many lines of a question are shown, those of its choices among them.
const (
	cardMost    = 8
	choiceLines = 3
)

// said is the text of a card.
type said struct {
	lines   []string
	choices string // answers that the agent expects
	how     string // what can be done
}

// card is what a person can answer: the question that the loop waits for, else those that the agent
// asked while it works on.
func (m *model) card(columns int) (lines []string) {
	if m.overlay != nil {
		return nil
	}
	if m.needsPerson() {
		return m.framed("needs you", m.needed(), columns)
	}
	open := openQuestions(m.view)
	if m.over || len(open) == 0 {
		return nil
	}
	title := fmt.Sprintf("question %d", open[0].Number)
	if len(open) > 1 {
		title += fmt.Sprintf(" · %d more", len(open)-1)
	}
	how := fmt.Sprintf("/answer %d TEXT and enter: the agent works on meanwhile", open[0].Number)
	if m.o.ReadOnly {
		how = readOnlyAnswer
	}
	text := m.asking(open[0])
	text.how = how
	return m.framed(title, text, columns)
}

const readOnlyAnswer = "read only: 'ralph attach' without --read-only can answer"

// needed is what the loop waits for, and at the end how to answer.
func (m *model) needed() (text said) {
	how := "type the answer and press enter: the loop resumes with it"
	if open := openQuestions(m.view); m.view.Awaited > 0 && len(open) > 0 && m.view.Ended == nil {
		text = m.asking(open[0])
	} else {
		text.lines = strings.Split(m.question(), "\n")
	}
	switch {
	case m.o.ReadOnly:
		how = readOnlyAnswer
	case m.view.Ended != nil:
		how = "type an answer and press enter: the loop is resumed with it"
	}
	text.how = how
	return text
}

// asking is a question with the answers that the agent expects.
func (m *model) asking(q projector.Question) said {
	text := said{lines: strings.Split(string(render.CleanText(q.Text)), "\n")}
	if len(q.Choices) > 0 {
		text.choices = "choices: " + render.Clean(strings.Join(q.Choices, " | "))
		if !m.o.ReadOnly {
			text.choices += " (alt+1 takes the first)"
		}
	}
	return text
}

// framed sets off a text with a title. What can be answered is shown below a question of any
// length.
func (m *model) framed(title string, s said, columns int) (lines []string) {
	t := m.theme
	inner := max(columns-4, 8)
	var text, choices []string
	for _, line := range s.lines {
		text = append(text, wrap(line, inner)...)
	}
	if s.choices != "" {
		choices = atMost(wrap(s.choices, inner), choiceLines)
	}
	edge := t.Warning.Render("┃ ")
	lines = append(lines, edge+t.Warning.Render(render.Cut(title, inner)))
	for _, line := range append(atMost(text, cardMost-len(choices)), choices...) {
		lines = append(lines, edge+line)
	}
	for _, line := range wrap(s.how, inner) {
		lines = append(lines, edge+t.Dim.Render(line))
	}
	return lines
}

// atMost returns the first lines, and says if there are more.
func atMost(lines []string, most int) []string {
	if len(lines) <= most {
		return lines
	}
	return append(lines[:most-1:most-1], "…")
}

// answer is what an answer consists of: to the question that the loop waits for or to the only one,
// else to what the loop waits for.
func answer(text string, v projector.View) []inbox.Command {
	number := v.Awaited
	if open := openQuestions(v); number == 0 && len(open) > 0 && !waitsForPerson(v) {
		number = open[0].Number
	}
	if number > 0 {
		return []inbox.Command{{Kind: inbox.Answer, Question: number, Text: text}}
	}
	return []inbox.Command{{Kind: inbox.FollowUp, Text: text}, {Kind: inbox.Resume}}
}

// wrap breaks a clean line between words into lines of at most so many columns.
func wrap(line string, columns int) (lines []string) {
	current, width := "", 0
	for _, word := range strings.Fields(line) {
		wide := render.Columns(word)
		if width > 0 && width+1+wide > columns {
			lines, current, width = append(lines, current), "", 0
		}
		for wide > columns { // a word that is wider than a line
			head := strings.TrimSuffix(render.Cut(word, columns), "…")
			if head == "" || head == word {
				break
			}
			lines, word = append(lines, head), word[len(head):]
			wide = render.Columns(word)
		}
		if width > 0 {
			current, width = current+" ", width+1
		}
		current, width = current+word, width+wide
	}
	return append(lines, current)
}
