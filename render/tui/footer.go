package tui

import (
	"strings"

	"github.com/ralph-loop/ralph/render"
)

// hint is a key and what it does now.
type hint struct{ key, does string }

// footer shows the keys that work now, as many as have room.
func (m *model) footer(columns int) string {
	hints := m.hints()
	var text strings.Builder
	width := 0
	for _, h := range hints {
		wide := render.Columns(h.key) + 1 + render.Columns(h.does)
		if width > 0 {
			wide += 3
		}
		if width+wide > columns {
			break
		}
		if width > 0 {
			text.WriteString(m.theme.Border.Render(" │ "))
		}
		text.WriteString(m.theme.Accent.Render(h.key) + " " + m.theme.Dim.Render(h.does))
		width += wide
	}
	return text.String()
}

// hints are the keys that work now, the most useful first.
func (m *model) hints() []hint {
	if m.overlay != nil {
		return m.overlay.hints()
	}
	switch m.focus {
	case going:
		return []hint{{"enter", "go"}, {"esc", "back"}}
	case searching:
		return []hint{{"enter", "search"}, {"↑", "earlier searches"}, {"esc", "back"}}
	case listing:
		return []hint{{"enter", "show"}, {"↑↓", "choose"}, {"d", "diff"}, {"esc", "close"}}
	case reading:
		return m.readHints()
	}
	typed := m.line.String()
	switch {
	case strings.HasPrefix(typed, "/") && !strings.HasPrefix(typed, "//"):
		return []hint{{"enter", "run"}, {"tab", "complete"}, {"ctrl-c", "clear"}}
	case m.over && typed != "":
		return []hint{{"enter", "resume with these words"}, {"ctrl-c", "leave"}}
	case m.over:
		return []hint{{"ctrl-d", "leave"}, {"enter", "resume with what you type"}, {"esc", "read"}, {"?", "keys"}}
	case m.needsPerson() && typed != "":
		return []hint{{"enter", "answer and resume"}, {"alt-enter", "only queue"}, {"ctrl-c", "clear"}}
	case typed != "":
		return []hint{{"enter", "steer now"}, {"alt-enter", "next iteration"}, {"ctrl-c", "clear"}}
	}
	return []hint{
		{"type", m.typeHint()}, {"?", "keys"}, {"/", "commands"}, {"esc", "read"},
		{"ctrl-c", "stop"}, {"ctrl-d", "leave"}, {"↑↓", "scroll"}, {"ctrl-f", "search"}, {"ctrl-t", "iterations"},
	}
}

func (m *model) typeHint() string {
	if m.needsPerson() {
		return "the answer"
	}
	return "to steer"
}

func (m *model) readHints() []hint {
	if m.progress != nil && m.found == "" {
		return m.replayHints()
	}
	hints := []hint{{"i", "type"}, {"?", "keys"}, {"j k", "select"}, {"space", "fold"}, {"/", "search"}}
	if m.o.ReadOnly {
		hints[0] = hint{"q", "leave"}
	}
	if m.found != "" {
		hints = append([]hint{{"n N", "next match"}, {"esc", "end search"}}, hints...)
	}
	if !m.conv.AtEnd() || !m.win.live {
		hints = append(hints[:2:2], append([]hint{{"G", "newest"}}, hints[2:]...)...)
	}
	if e, ok := m.conv.Selected(); ok {
		hints = append(hints, hint{"y", "copy"})
		if len(pathsOf(e)) > 0 {
			hints = append(hints, hint{"o", "open file"})
		}
	}
	return append(hints, hint{"[ ]", "iteration"}, hint{"f", "failure"}, hint{"c", "commit"}, hint{"s", "message"},
		hint{"d", "diff"}, hint{"l", "list"}, hint{"q", "leave"})
}
