package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/terminal"
)

// prompts of the line, by what enter does with it.
const (
	promptSteer  = "> "
	promptAnswer = "answer> "
	promptResume = "resume> "
	promptSearch = "/"
)

// parts are the rows of the screen but for the body.
type parts struct {
	above, below []string
	cursorRow    int // in below; -1 without a cursor
	cursorColumn int
}

// noticeRows is how many rows of a long notice are shown.
const noticeRows = 3

// parts composes what is around the body.
func (m *model) parts() parts {
	p := parts{cursorRow: -1}
	p.above = []string{m.header(m.columns), m.activity(m.columns)}
	if m.rows < 8 {
		p.above = p.above[:1]
	}
	add := func(lines ...string) { p.below = append(p.below, lines...) }
	if m.overlay == nil {
		add(m.card(m.columns)...)
		add(m.outstanding()...)
		if m.notice.text != "" {
			for _, line := range atMost(wrap(m.notice.text, m.columns), noticeRows) {
				add(m.toned(m.notice.tone).Render(line))
			}
		}
		if room := m.rows - len(p.above) - 8; len(p.below) > max(room, 1) {
			p.below = p.below[len(p.below)-max(room, 1):]
		}
		m.addLine(&p)
	}
	if m.progress != nil {
		add(m.replayLine(m.columns))
	}
	if m.dialog != nil {
		add(m.dialog.lines(m, m.columns)...)
		p.cursorRow = -1
		return p
	}
	add(m.footer(m.columns))
	return p
}

// addLine adds the line in which a person types.
func (m *model) addLine(p *parts) {
	e, prompt := &m.line, m.prompt()
	if m.focus == searching {
		e, prompt = &m.query, promptSearch
	} else if m.focus == going {
		e, prompt = &m.query, promptGo
	} else if m.o.ReadOnly {
		return
	}
	p.below = append(p.below, m.theme.Border.Render(strings.Repeat("─", m.columns)))
	width := render.Columns(prompt)
	rows, row, column := e.rows(max(m.columns-width-1, 2))
	if m.focus != reading && m.focus != listing {
		p.cursorRow, p.cursorColumn = len(p.below)+row, width+column
	}
	style := m.theme.Dim
	if m.focus != reading && m.focus != listing {
		style = m.theme.Accent
	}
	for i, text := range rows {
		lead := style.Render(prompt)
		if i > 0 {
			lead = strings.Repeat(" ", width)
		}
		p.below = append(p.below, lead+text)
	}
	if e == &m.line {
		p.below = append(p.below, m.choices(m.columns)...)
	}
}

// prompt says what enter does with the line.
func (m *model) prompt() string {
	switch {
	case m.over:
		return promptResume
	case m.focus == typing && m.subject.needs && m.subject != subjectOf(m.view, m.needsPerson()) && isOpen(m.view, m.subject.question):
		return fmt.Sprintf("answer %d> ", m.subject.question)
	case m.needsPerson():
		return promptAnswer
	}
	return promptSteer
}

// choicesMost is how many completions are shown.
const choicesMost = 5

// choices are what the typed beginning of a command may mean.
func (m *model) choices(columns int) (lines []string) {
	if m.focus != typing || !strings.HasPrefix(m.line.String(), "/") {
		return nil
	}
	_, choices := complete(m.line.String())
	for i, w := range choices {
		if i == choicesMost-1 && len(choices) > choicesMost {
			return append(lines, m.theme.Dim.Render(render.Cut("  … tab completes", columns)))
		}
		lines = append(lines, render.Cut("  "+w.usage, columns)+m.theme.Dim.Render(render.Cut("  "+w.about, max(columns-render.Columns(w.usage)-2, 0))))
	}
	return lines
}

func (m *model) toned(t tone) terminal.Style {
	switch t {
	case toneGood:
		return m.theme.Good
	case toneWarning:
		return m.theme.Warning
	case toneFailure:
		return m.theme.Failure
	}
	return m.theme.Dim
}

// pair is a line with a text at its left and another at its right.
func (m *model) pair(left, right string, l, r terminal.Style) string {
	right = render.Cut(render.Clean(right), max(m.columns-12, 8))
	left = render.Cut(render.Clean(left), max(m.columns-render.Columns(right)-2, 4))
	gap := max(m.columns-render.Columns(left)-render.Columns(right), 1)
	return l.Render(left) + strings.Repeat(" ", gap) + r.Render(right)
}

// bodyRows are the rows of the conversation.
func (m *model) bodyRows() int {
	p := m.parts()
	return max(m.rows-len(p.above)-len(p.below), 1)
}

// layout gives the conversation its part of the screen.
func (m *model) layout() {
	if m.inline != nil {
		return
	}
	m.conv.Resize(m.columns-m.side.width(m), m.bodyRows())
}

// View draws the screen.
func (m *model) View() tea.View {
	if m.inline != nil {
		return m.inlineView()
	}
	p := m.parts()
	height := max(m.rows-len(p.above)-len(p.below), 1)
	lines := make([]string, 0, m.rows)
	lines = append(lines, p.above...)
	switch {
	case m.overlay != nil:
		lines = append(lines, filled(m.overlay.lines(m, m.columns, height), height)...)
	case m.side.covers(m):
		lines = append(lines, filled(m.side.lines(m, m.columns, height), height)...)
	default:
		lines = append(lines, m.body(height)...)
	}
	lines = append(lines, p.below...)
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, m.columns, "")
	}
	view := tea.NewView(strings.Join(lines[:min(len(lines), m.rows)], "\n"))
	if m.recalls() { // else the wheel would be keys, and change the line
		view.MouseMode = tea.MouseModeCellMotion
	}
	if p.cursorRow >= 0 {
		view.Cursor = tea.NewCursor(min(p.cursorColumn, m.columns-1), len(p.above)+height+p.cursorRow)
	}
	return view
}

// body is the conversation, with the list of iterations beside it.
func (m *model) body(height int) []string {
	shown := filled(m.conv.Lines(m.now), height)
	width := m.side.width(m)
	if width == 0 {
		return shown
	}
	list := filled(m.side.lines(m, width-2, height), height)
	edge := m.theme.Border.Render("│ ")
	for i := range shown {
		gap := max(width-2-ansi.StringWidth(list[i]), 0)
		shown[i] = list[i] + strings.Repeat(" ", gap) + edge + shown[i]
	}
	return shown
}

// filled returns exactly so many lines.
func filled(lines []string, height int) []string {
	if len(lines) >= height {
		return lines[:height:height]
	}
	all := make([]string, height)
	copy(all, lines)
	return all
}
