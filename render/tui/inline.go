package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/transcript"
)

// inline is the view that prints finished entries into the scrollback of the terminal, and draws
// only what is live below them.
type inline struct {
	printed map[event.Seq]string // what was printed of an entry that may still change
	next    event.Seq            // entries before it are printed
	waiting []string             // lines that are not printed yet
	busy    bool                 // some are being printed
	drawn   bool                 // the first frame is on the terminal
	themed  bool                 // the colours are known
	height  int                  // of what was live, when it was drawn last
}

// printedMsg says that the lines that were being printed are on the terminal.
type printedMsg struct{}

// entryRows is how many rows one entry may have.
const entryRows = 10000

// inlinePast is how many entries are printed at the beginning.
const inlinePast = 20

// print prints entries that are finished, in their order. An entry that is not holds back those
// after it.
func (m *model) print(changed []transcript.Entry) tea.Cmd {
	if m.inline == nil || !m.inline.drawn || !m.inline.themed {
		return nil
	}
	if m.inline.next == 0 {
		if n := len(m.recent) - inlinePast; n > 0 {
			m.inline.next = m.recent[n].Seq
		}
	}
	var lines []string
	for _, e := range changed { // what has changed since it was printed
		if was, ok := m.inline.printed[e.Seq]; ok && e.Seq < m.inline.next && was != stateOf(e) {
			m.inline.printed[e.Seq] = stateOf(e)
			lines = append(lines, m.inline.draw(m, e)...)
		}
	}
	for i, e := range m.recent {
		if e.Seq < m.inline.next {
			continue
		}
		if !m.over && !finished(e, i == len(m.recent)-1) {
			break
		}
		m.inline.next = e.Seq + 1
		if state := stateOf(e); state != "" {
			m.inline.printed[e.Seq] = state
		}
		lines = append(lines, m.inline.draw(m, e)...)
	}
	m.inline.waiting = append(m.inline.waiting, lines...)
	if m.inline.busy {
		return nil
	}
	return m.printNext()
}

// printNext prints the next lines that wait, in their order, and no more than fit on the screen
// above what is live: more of them would push that off the screen, and the terminal would show what
// is left of it.
func (m *model) printNext() tea.Cmd {
	l := m.inline
	if l.busy = len(l.waiting) > 0; !l.busy {
		return nil
	}
	drawn := l.height
	m.inlineView() // what is live now may be higher
	n := min(max(m.rows-max(drawn, l.height), 1), len(l.waiting))
	piece := strings.Join(l.waiting[:n], "\n")
	l.waiting = l.waiting[n:]
	return tea.Sequence(tea.Println(piece), func() tea.Msg { return printedMsg{} })
}

// draw returns the lines of one entry. They leave the last column free: Bubble Tea erases the rest
// of each line that it prints, and at the last column a terminal erases the character there.
func (l *inline) draw(m *model, e transcript.Entry) []string {
	width := max(m.columns-1, 1)
	m.conv.Resize(width, entryRows)
	m.conv.Replace([]transcript.Entry{e})
	lines := m.conv.Lines(m.now)
	for len(lines) > 0 && strings.TrimSpace(ansi.Strip(lines[0])) == "" {
		lines = lines[1:]
	}
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, width, "")
	}
	return lines
}

// finished reports whether an entry will not change, or is one whose changes are printed again.
func finished(e transcript.Entry, newest bool) bool {
	switch b := e.Body.(type) {
	case transcript.Words:
		return b.Done
	case transcript.Thinking:
		return b.Done
	case transcript.Tools:
		reads := len(b.Calls) > 0 && b.Calls[len(b.Calls)-1].Reads
		return b.State() != transcript.StateRunning && !(newest && reads) // another may join a group
	case transcript.Guardrail:
		return b.State != transcript.StateRunning
	case transcript.Plan:
		return !newest
	case transcript.Note: // one about events of a newer ralph may grow
		return !newest || slices.Contains(event.Types(), b.Type)
	}
	return true
}

// stateOf is what may change in an entry after it was printed, in one text; empty if nothing.
func stateOf(e transcript.Entry) string {
	switch b := e.Body.(type) {
	case transcript.Message:
		return string(b.State)
	case transcript.Question:
		return fmt.Sprint(b.Answered)
	case transcript.Claim:
		return string(b.State)
	case transcript.Wait:
		return fmt.Sprint(b.Over, b.Until)
	case transcript.Pause:
		return fmt.Sprint(b.Over)
	}
	return ""
}

// inlineView draws what is live: what happens now, the line, the loop's status with the keys.
func (m *model) inlineView() tea.View {
	var lines []string
	lines = append(lines, m.card(m.columns)...)
	lines = append(lines, m.outstanding()...)
	if m.overlay != nil {
		height := max(m.rows-2, 3)
		shown := m.overlay.lines(m, m.columns, height)
		for len(shown) > 0 && shown[0] == "" {
			shown = shown[1:]
		}
		lines = append(lines, shown...)
	}
	now := m.activity(m.columns)
	if m.notice.text != "" {
		now = m.toned(m.notice.tone).Render(render.Cut(m.notice.text, m.columns))
	}
	lines = append(lines, now)
	row, column, typed := -1, 0, []string{}
	if !m.o.ReadOnly {
		width := render.Columns(m.prompt())
		typed, row, column = m.line.rows(max(m.columns-width-1, 2))
		column += width
		for i, text := range typed {
			lead := m.theme.Accent.Render(m.prompt())
			if i > 0 {
				lead = strings.Repeat(" ", width)
			}
			typed[i] = lead + text
		}
	}
	at := len(lines) + row
	lines = append(lines, typed...)
	if m.overlay != nil {
		lines = append(lines, m.footer(m.columns))
	} else if m.dialog != nil {
		lines = append(lines, m.dialog.lines(m, m.columns)...)
	} else if choices := m.choices(m.columns); len(choices) > 0 {
		lines = append(lines, choices...)
	} else {
		lines = append(lines, m.header(m.columns))
	}
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, m.columns, "")
	}
	m.inline.height = len(lines)
	view := tea.NewView(strings.Join(lines, "\n"))
	if row >= 0 && m.overlay == nil && m.dialog == nil {
		view.Cursor = tea.NewCursor(min(column, m.columns-1), at)
	}
	return view
}
