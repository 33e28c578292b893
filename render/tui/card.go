package tui

import (
	"strings"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
)

// needsPerson reports whether nothing happens until a person acts.
func (m *model) needsPerson() bool {
	v := m.view
	if v.Ended != nil {
		return v.Ended.Reason.ExitCode() == event.ExitPerson
	}
	return !m.over && v.Status == event.StatusWaiting && v.Until.IsZero()
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

// cardMost is how many lines of a question are shown.
const cardMost = 8

// card is the question of the loop, with what can be done about it.
func (m *model) card(columns int) (lines []string) {
	if !m.needsPerson() || m.overlay != nil {
		return nil
	}
	t := m.theme
	inner := max(columns-4, 8)
	var text []string
	for _, line := range strings.Split(m.question(), "\n") {
		text = append(text, wrap(line, inner)...)
	}
	if len(text) > cardMost {
		text = append(text[:cardMost-1], "…")
	}
	how := "type the answer and press enter: the loop resumes with it"
	switch {
	case m.o.ReadOnly:
		how = "read only: 'ralph attach' without --read-only can answer"
	case m.view.Ended != nil:
		how = "type an answer and press enter: the loop is resumed with it"
	}
	edge := t.Warning.Render("┃ ")
	lines = append(lines, edge+t.Warning.Render(render.Cut("needs you", inner)))
	for _, line := range text {
		lines = append(lines, edge+line)
	}
	for _, line := range wrap(how, inner) {
		lines = append(lines, edge+t.Dim.Render(line))
	}
	return lines
}

// answer is what an answer to the question consists of.
func answer(text string) []inbox.Command {
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
