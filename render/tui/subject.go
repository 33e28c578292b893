package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/projector"
)

// subject is what the line in the editor is about: what was on the screen when the person began to
// type. Another question may be shown by the time of enter.
type subject struct {
	needs    bool // words and enter are an answer, since the loop waits for a person
	question int  // the question that an answer without a number is for; 0 if there is none
}

// subjectOf is what a line is about that is begun now.
func subjectOf(v projector.View, needs bool) subject {
	s := subject{needs: needs}
	if needs {
		s.question = v.Awaited
	} else if open := openQuestions(v); len(open) == 1 {
		s.question = open[0].Number
	}
	return s
}

// about returns the loop as a line about a subject sees it: its question is the one to be answered,
// if that is still open.
func (s subject) about(v projector.View) projector.View {
	if isOpen(v, s.question) {
		v.Awaited = s.question
	}
	return v
}

// changed says what enter does now, if that is not what it did when the line was begun.
func (m *model) changed(answers bool) string {
	begun, now := m.subject, subjectOf(m.view, m.needsPerson())
	if !answers { // words: they steer the agent unless the loop waits
		begun, now = begun.ofWords(), now.ofWords()
	}
	if begun == now || isOpen(m.view, begun.question) {
		return ""
	}
	why := "the loop does not wait any more"
	switch {
	case begun.question > 0:
		why = fmt.Sprintf("question %d has an answer already", begun.question)
	case now.needs:
		why = "the loop waits for you now"
	case now.question > 0:
		why = "the agent has asked something meanwhile"
	}
	switch {
	case now.question > 0:
		return fmt.Sprintf("%s; enter again answers question %d", why, now.question)
	case now.needs || answers:
		return why + "; enter again answers what the loop waits for"
	}
	return why + "; enter again steers the agent"
}

// ofWords is the subject of a line that is no command.
func (s subject) ofWords() subject {
	if !s.needs {
		return subject{}
	}
	return s
}

func isOpen(v projector.View, number int) bool {
	return slices.ContainsFunc(v.Questions, func(q projector.Question) bool { return q.Number == number && q.Open() })
}

// choose puts an answer that the agent expects into the line: the nth one of the question that is
// shown. A line of the person's own words stays.
func (m *model) choose(n int) {
	open := openQuestions(m.view)
	if m.over || len(open) == 0 || n > len(open[0].Choices) || m.needsPerson() && m.view.Awaited == 0 {
		return
	}
	begin := fmt.Sprintf("/answer %d ", open[0].Number)
	line := m.line.String()
	isChoice := slices.ContainsFunc(open[0].Choices, func(choice string) bool { return line == begin+choice })
	if !m.line.empty() && !isChoice {
		m.say(toneWarning, "the line is not empty; ctrl-c clears it")
		return
	}
	m.line.set(begin + open[0].Choices[n-1])
}

// numberless reports whether a line is an answer that names no question.
func numberless(line string, v projector.View) bool {
	rest, ok := strings.CutPrefix(line, "/answer ")
	if !ok {
		return false
	}
	_, _, numbered := numberOf(strings.TrimSpace(rest), v)
	return !numbered
}
