package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/render"
)

// dialog is a question below the line, about what a key does. The conversation stays.
type dialog struct {
	asks    string
	answers []hint
	// key handles a key; closed says that the question is answered.
	key func(m *model, k tea.KeyPressMsg) (c tea.Cmd, closed bool)
}

// leaving asks what ctrl-c means.
var leaving = dialog{"Stop the loop?", []hint{
	{"f", "finish this iteration, then stop"}, {"n", "stop now"}, {"l", "leave it running"}, {"esc", "back"},
}, func(m *model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	switch k.Keystroke() {
	case "f", "1":
		return m.send(inbox.Command{Kind: inbox.Stop}), true
	case "n", "2":
		return m.send(inbox.Command{Kind: inbox.StopNow}), true
	case "l", "3", "ctrl+c", "ctrl+d", "q":
		return tea.Quit, true
	case "esc":
		return nil, true
	}
	return nil, false
}}

// killing asks whether a loop is to be killed.
var killing = dialog{"Kill the agent at once, and end the loop? Nothing is finished.", []hint{
	{"y", "kill it"}, {"n", "back"},
}, func(m *model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	switch k.Keystroke() {
	case "y":
		m.line.take()
		return m.send(inbox.Command{Kind: inbox.Kill}), true
	case "n", "esc", "ctrl+c", "enter":
		return nil, true
	}
	return nil, false
}}

// resuming asks whether a loop that is over is to be resumed with a text. Any other key is for the
// line again: what is typed for a shell by mistake resumes nothing.
func resuming(text, more string) dialog {
	return dialog{render.AskResume("the loop", more, true), []hint{
		{"enter", "resume"}, {"esc", "back"},
	}, func(m *model, k tea.KeyPressMsg) (tea.Cmd, bool) {
		switch k.Keystroke() {
		case "enter":
			m.resume = text
			m.line.take()
			return tea.Quit, true
		case "esc":
			return nil, true
		}
		m.dialog = nil
		return m.key(k), false
	}}
}

// lines are the question with its answers, on as many lines as it takes.
func (d dialog) lines(m *model, columns int) (lines []string) {
	asks := wrap(render.Clean(d.asks), columns)
	for _, line := range asks[:len(asks)-1] {
		lines = append(lines, m.theme.Warning.Render(line))
	}
	last := asks[len(asks)-1]
	text, width := strings.Builder{}, render.Columns(last)
	text.WriteString(m.theme.Warning.Render(last))
	for _, a := range d.answers {
		wide := render.Columns(a.key) + 1 + render.Columns(a.does)
		if width += 3 + wide; width > columns {
			lines, width = append(lines, text.String()), wide
			text.Reset()
		} else {
			text.WriteString(m.theme.Border.Render(" │ "))
		}
		text.WriteString(m.theme.Accent.Render(a.key) + " " + m.theme.Dim.Render(a.does))
	}
	return append(lines, text.String())
}

// padded is a clean text with blanks up to so many columns.
func padded(text string, columns int) string {
	for render.Columns(text) < columns {
		text += " "
	}
	return text
}
