package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/render"
)

// leaving asks what ctrl-c means.
type leaving struct{}

func (leaving) key(m *model, k tea.KeyPressMsg) (tea.Cmd, bool) {
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
}

func (leaving) lines(m *model, columns, rows int) []string {
	return boxed(m, columns, rows, "What should become of the loop?", []hint{
		{"f", "finish this iteration, then stop"},
		{"n", "stop now: the agent is asked to stop"},
		{"l", "leave it running, and leave"},
		{"esc", "back"},
	})
}

func (leaving) hints() []hint {
	return []hint{{"f", "finish iteration"}, {"n", "stop now"}, {"l", "leave it running"}, {"esc", "back"}}
}

// killing asks whether a loop is to be killed.
type killing struct{}

func (killing) key(m *model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	switch k.Keystroke() {
	case "y":
		m.line.take()
		return m.send(inbox.Command{Kind: inbox.Kill}), true
	case "n", "esc", "ctrl+c", "enter":
		return nil, true
	}
	return nil, false
}

func (killing) lines(m *model, columns, rows int) []string {
	return boxed(m, columns, rows, "Kill the agent at once, and end the loop?", []hint{
		{"y", "kill it: nothing is asked, nothing is finished"}, {"n", "back"},
	})
}

func (killing) hints() []hint { return []hint{{"y", "kill"}, {"n", "back"}} }

// boxed is a question with its answers, in the middle of the body.
func boxed(m *model, columns, rows int, title string, answers []hint) []string {
	indent := "  "
	lines := make([]string, max((rows-len(answers)-2)/2, 0), rows)
	lines = append(lines, indent+m.theme.Bold.Render(render.Cut(title, columns-2)), "")
	for _, a := range answers {
		lines = append(lines, indent+m.theme.Accent.Render(padded(a.key, 5))+render.Cut(a.does, max(columns-7, 1)))
	}
	return lines
}

// padded is a clean text with blanks up to so many columns.
func padded(text string, columns int) string {
	for render.Columns(text) < columns {
		text += " "
	}
	return text
}
