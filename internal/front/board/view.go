package board

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/listing"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/terminal"
)

// Screen is what the terminal shows: at most as many lines as it has rows. The cursor is at a
// column of a line; its line is -1 if nothing is being typed.
type Screen struct {
	Lines  []string
	Row    int
	Column int
}

// column is a column of the list.
type column struct {
	head  string
	cell  int // its place among the cells of a row
	width int
	money bool // aligned to the right
	path  bool // its end is shown if it is too long
}

// The columns in their order.
const (
	nameCell = iota
	stateCell
	iterationCell
	storiesCell // shown if a loop works on stories
	todayCell
	totalCell
	agentCell
	projectCell
)

// Widths, in columns of the terminal.
const (
	margin      = 2 // before a row
	gap         = 2 // between two columns
	indent      = 4 // before the text of a row
	widestName  = 28
	widestState = 40
	widestText  = 120 // a longer line is hard to read
	narrowName  = 12
	narrowState = 16
	narrowPath  = 14
	narrowest   = 8 // of a name or a state on a very narrow terminal
)

func (m *Model) cellsOf(l *listing.Loop) []string {
	return []string{
		strings.Repeat("  ", l.Depth) + nameOf(l), stateOf(l, m.snapshot.At), iterationOf(l), listing.Stories(l.View), listing.Cost(l.Today), listing.Cost(l.Cost),
		render.Clean(l.Agent), render.Clean(l.Path),
	}
}

// fit chooses the columns that fit into the width, and their widths. The name and the state are
// always there, narrower if they have to be.
func (m *Model) fit() []column {
	all := []column{
		{head: "NAME", cell: nameCell}, {head: "STATE", cell: stateCell}, {head: "ITERATION", cell: iterationCell}, {head: "STORIES", cell: storiesCell},
		{head: "TODAY", cell: todayCell, money: true}, {head: "TOTAL", cell: totalCell, money: true},
		{head: "AGENT", cell: agentCell}, {head: "PROJECT", cell: projectCell, path: true},
	}
	if !slices.ContainsFunc(m.snapshot.Loops, func(l listing.Loop) bool { return l.Stories > 0 }) {
		all = slices.Delete(all, storiesCell, storiesCell+1)
	}
	for i := range all {
		all[i].width = render.Columns(all[i].head)
		for _, cells := range m.cells {
			all[i].width = max(all[i].width, render.Columns(cells[all[i].cell]))
		}
	}
	all[nameCell].width, all[stateCell].width = min(all[nameCell].width, widestName), min(all[stateCell].width, widestState)
	room := m.Width - margin
	taken := func() int {
		sum := gap * (len(all) - 1)
		for _, c := range all {
			sum += c.width
		}
		return sum
	}
	// The project gives up columns first, then columns are left out, then names and states are cut.
	if last := &all[len(all)-1]; taken() > room {
		last.width = max(last.width-(taken()-room), min(last.width, narrowPath))
	}
	leaveOut := func(cells ...int) {
		for _, cell := range cells {
			if taken() > room {
				all = slices.DeleteFunc(all, func(c column) bool { return c.cell == cell })
			}
		}
	}
	narrow := func(cell, least int) {
		if over := taken() - room; over > 0 {
			all[cell].width = max(all[cell].width-over, min(all[cell].width, least))
		}
	}
	leaveOut(agentCell, projectCell, totalCell, iterationCell, storiesCell)
	narrow(stateCell, narrowState)
	narrow(nameCell, narrowName)
	leaveOut(todayCell)
	narrow(nameCell, narrowest)
	narrow(stateCell, narrowest)
	return all
}

// View returns the screen.
func (m *Model) View() Screen {
	s := Screen{Row: -1}
	if m.Height < 1 || m.Width < 1 {
		return s
	}
	if m.mode == reading {
		s.Lines = m.manual()
		return m.bounded(s)
	}
	if m.mode == peeking {
		m.peekLines(&s)
		return m.bounded(s)
	}
	if m.headLines() > 0 {
		s.Lines = append(s.Lines, m.Theme.Dim.Render(m.heads()))
	}
	end := len(s.Lines) + m.bodyHeight()
	for i := m.top; i < len(m.items) && len(s.Lines) < end; i++ {
		s.Lines = append(s.Lines, m.itemLines(i)...)
	}
	for len(s.Lines) < end {
		s.Lines = append(s.Lines, "")
	}
	s.Lines = s.Lines[:end]
	m.bottom(&s)
	return m.bounded(s)
}

// peekLines are the chosen loop, what it asks or does, and the end of its conversation.
func (m *Model) peekLines(s *Screen) {
	l := m.chosen()
	if l == nil {
		s.Lines = append(s.Lines, "the loop is gone", m.Theme.Dim.Render(m.keys()))
		return
	}
	s.Lines = append(s.Lines, render.Cut(nameOf(l)+"  "+stateOf(l, m.snapshot.At), m.Width))
	s.Lines[0] = m.Theme.Bold.Render(s.Lines[0])
	s.Lines = append(s.Lines, m.textLines(l, 6)...)
	s.Lines = append(s.Lines, m.Theme.Border.Render(strings.Repeat("─", m.Width)))
	room := max(m.Height-len(s.Lines)-1, 0)
	shown := m.peeked[max(0, len(m.peeked)-room):]
	for _, row := range shown {
		s.Lines = append(s.Lines, render.Cut(row, m.Width))
	}
	for range room - len(shown) {
		s.Lines = append(s.Lines, "")
	}
	s.Lines = append(s.Lines, m.Theme.Dim.Render(m.keys()))
}

// bounded cuts what does not fit on the terminal: its end has what is being typed, and the keys.
func (m *Model) bounded(s Screen) Screen {
	if cut := len(s.Lines) - m.Height; cut > 0 {
		s.Lines = s.Lines[cut:]
		s.Row = max(s.Row-cut, -1)
	}
	return s
}

// bodyHeight is how many lines the list has.
func (m *Model) bodyHeight() int {
	var s Screen
	m.bottom(&s)
	return max(m.Height-m.headLines()-len(s.Lines), 1)
}

// headLines is how many lines the heads of the columns take: none on a very small terminal.
func (m *Model) headLines() int {
	if m.Height < 8 {
		return 0
	}
	return 1
}

func (m *Model) heads() string {
	cells := make([]string, projectCell+1)
	for _, c := range m.columns {
		cells[c.cell] = c.head
	}
	return strings.Repeat(" ", margin) + m.row(cells, nil)
}

// row returns cells in their columns. style, unless nil, styles a cell.
func (m *Model) row(cells []string, style func(cell int, text string) string) string {
	var b strings.Builder
	for i, c := range m.columns {
		text := render.Cut(cells[c.cell], c.width)
		if c.path && render.Columns(cells[c.cell]) > c.width {
			text = "…" + render.CutStart(cells[c.cell], c.width-1)
		}
		blanks := strings.Repeat(" ", max(c.width-render.Columns(text), 0))
		if style != nil {
			text = style(c.cell, text)
		}
		switch {
		case c.money:
			text = blanks + text
		case i < len(m.columns)-1:
			text += blanks
		}
		b.WriteString(text)
		if i < len(m.columns)-1 {
			b.WriteString(strings.Repeat(" ", gap))
		}
	}
	return b.String()
}

// itemLines returns the lines of an item of the list.
func (m *Model) itemLines(i int) []string {
	it := m.items[i]
	switch it.kind {
	case headItem:
		text := m.Theme.Bold.Render(string(it.group))
		if n := m.counts[it.group]; n > 0 {
			text += m.Theme.Dim.Render(fmt.Sprintf("  %d", n))
		}
		return []string{text}
	case noneItem:
		return []string{m.Theme.Dim.Render(strings.Repeat(" ", margin) + m.none(it.group))}
	case blankItem:
		if i == len(m.items)-1 {
			return nil
		}
		return []string{""}
	}
	return m.rowLines(it)
}

// none is what an empty group has.
func (m *Model) none(group projector.Group) string {
	switch {
	case !m.loaded:
		return "…"
	case m.filter != "" || m.Here || m.Running:
		return "none match"
	case group == projector.NeedsYou:
		return "nothing"
	}
	return "none"
}

func (m *Model) rowLines(it item) []string {
	l := &m.snapshot.Loops[it.loop]
	selected := l.Found.File == m.selected
	mark := strings.Repeat(" ", margin)
	if selected {
		mark = m.Theme.Accent.Render(">") + " "
	}
	cells := m.cells[it.loop]
	lines := []string{mark + m.row(cells, func(cell int, text string) string {
		switch {
		case cell == stateCell:
			return m.stateStyle(l).Render(text)
		case cell == nameCell && selected:
			return m.Theme.Selected.Render(text)
		case cell == nameCell:
			return m.Theme.Bold.Render(text)
		}
		return m.Theme.Dim.Render(text)
	})}
	own := l.Group
	if own == projector.Over && !selected {
		return lines
	}
	return append(lines, m.textLines(l, linesOf(own, selected))...)
}

// linesOf is how many lines of text a row has at most.
func linesOf(group projector.Group, selected bool) int {
	switch {
	case group == projector.Working:
		return 1
	case selected:
		return 6
	case group == projector.NeedsYou:
		return 3
	}
	return 2
}

func (m *Model) stateStyle(l *listing.Loop) terminal.Style {
	switch group := l.Group; {
	case l.Died, l.Error != "", l.Status == "failed":
		return m.Theme.Failure
	case group == projector.NeedsYou:
		return m.Theme.Warning
	case group == projector.Working:
		return m.Theme.Good
	}
	return m.Theme.Dim
}

// textLines are the lines below a row: what the loop asks, does, or why it ended.
func (m *Model) textLines(l *listing.Loop, most int) []string {
	if l.Facts == nil || l.Facts.Text == "" {
		return nil
	}
	width := min(m.Width-indent, widestText)
	style, lines := m.Theme.Text, []string(nil)
	if l.Group == projector.Working && l.Facts.Asked.Number == 0 {
		lines = []string{m.doing(l.Facts, width)}
	} else {
		lines = m.wrapped(l.Facts.Text, width, most)
	}
	if l.Group != projector.NeedsYou {
		style = m.Theme.Dim
	}
	if choices := m.choices(l); choices != "" {
		lines = append(lines, render.Cut(choices, width))
	}
	if hint := l.Facts.Hint; hint != "" && l.Found.File == m.selected {
		lines = append(lines, render.Cut("→ "+hint, width))
	}
	for i := range lines {
		lines[i] = strings.Repeat(" ", indent) + style.Render(lines[i])
	}
	return lines
}

// choices are the answers that the agent of a loop expects, with the digits that take them.
func (m *Model) choices(l *listing.Loop) string {
	var parts []string
	for i := range choicesOf(l) {
		parts = append(parts, fmt.Sprintf("%d %s", i+1, l.Facts.Asked.Choices[i]))
	}
	return strings.Join(parts, " · ")
}

// doing says in one line what a loop does, and for how long if that is long.
func (m *Model) doing(f *listing.Facts, width int) string {
	took := m.snapshot.At.Sub(f.Since)
	if f.Since.IsZero() || took < shownAfter {
		return render.Cut(f.Text, width)
	}
	long := ", " + clock(took)
	return render.Cut(f.Text, max(width-render.Columns(long), 1)) + long
}

// shownAfter is how long something has to take before the board says how long.
const shownAfter = time.Minute

// wrapped breaks a clean text into at most so many lines; the last of them says if there are more.
func (m *Model) wrapped(text string, width, most int) []string {
	width = max(width, 1)
	var lines []string
	for part := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if strings.TrimSpace(part) == "" && len(lines) > 0 && lines[len(lines)-1] == "" {
			continue
		}
		for _, row := range cli.Wrapped(part, width) {
			if len(lines) == most {
				lines[most-1] = render.Cut(lines[most-1]+" …", width)
				if !strings.HasSuffix(lines[most-1], "…") {
					lines[most-1] += "…"
				}
				return lines
			}
			lines = append(lines, render.Cut(row, width))
		}
	}
	return lines
}
