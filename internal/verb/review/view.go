package review

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/display"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/reading"
)

// screen are the lines of the screen, and where the cursor is; its row is -1 if nothing is typed.
func (m *model) screen() (lines []string, row, column int) {
	row = -1
	if m.width < 1 || m.height < 1 {
		return nil, row, 0
	}
	if m.mode == helping {
		return m.manual(), row, 0
	}
	head, foot := m.head(), []string(nil)
	foot, row, column = m.foot()
	room := m.height - len(head) - len(foot)
	if room < 1 { // what is typed, and the keys, matter more
		head, room = head[:max(len(head)+room-1, 0)], 1
	}
	lines = append(head, m.body(room)...)
	for len(lines) < m.height-len(foot) {
		lines = append(lines, "")
	}
	if row >= 0 {
		row += len(lines)
	}
	lines = append(lines, foot...)
	if cut := len(lines) - m.height; cut > 0 {
		lines, row = lines[cut:], max(row-cut, -1)
	}
	return lines, row, column
}

// head says how far the review is, and what the item is.
func (m *model) head() []string {
	title := m.name + ": " + m.list.Reviewed.String()
	switch {
	case !m.known:
		title = m.name + ": the work is being compared…"
	case m.list.Done():
		title += ", all is decided"
	}
	lines := []string{m.theme.Bold.Render(render.Cut(title, m.width))}
	for _, row := range m.wrapped(m.unknown()) {
		lines = append(lines, m.theme.Warning.Render(row))
	}
	item := m.item()
	if m.mode == listing || item == nil {
		for _, row := range m.wrapped(m.list.Compared) {
			lines = append(lines, m.theme.Dim.Render(row))
		}
		return lines
	}
	kind := fmt.Sprintf("%d of %d  %s", m.at+1, len(m.list.Items), item.Kind.Title())
	lines = append(lines, m.theme.Dim.Render(render.Cut(kind, m.width)))
	place := item.Place()
	if item.Added+item.Removed > 0 {
		place += fmt.Sprintf("  +%d −%d", item.Added, item.Removed)
	}
	for _, row := range m.wrapped(place) {
		lines = append(lines, m.theme.Accent.Render(row))
	}
	for _, row := range m.wrapped(item.Why()) {
		style := m.theme.Text
		if slices.Contains([]reading.Kind{reading.Untried, reading.Survivor, reading.Fact}, item.Kind) || item.Again {
			style = m.theme.Warning
		}
		lines = append(lines, style.Render(row))
	}
	if shows := cmp.Or(item.Back, item.Command); shows != "" {
		lines = append(lines, m.theme.Dim.Render(render.Cut(shows, m.width)))
	}
	return append(lines, m.theme.Border.Render(strings.Repeat("─", m.width)))
}

func (m *model) unknown() string {
	if m.list.Unknown == "" {
		return ""
	}
	return "Which files changed is not known: " + m.list.Unknown
}

func (m *model) wrapped(text string) (rows []string) {
	if text == "" {
		return nil
	}
	for _, row := range cli.Wrapped(text, m.width) {
		part, _, _ := display.NewLine(row).Rows(m.width)
		rows = append(rows, part...)
	}
	return rows
}

// body is the difference of the item, or the list, in so many lines.
func (m *model) body(room int) []string {
	if m.mode == listing {
		return m.rows(room)
	}
	all := m.difference()
	m.top = min(m.top, max(len(all)-room, 0))
	return all[m.top:min(m.top+room, len(all))]
}

// difference are the lines of the item, broken into those of the screen.
func (m *model) difference() (lines []string) {
	item := m.item()
	if item == nil {
		if m.known && m.list.Unknown == "" {
			return m.wrapped(nothing)
		}
		return nil
	}
	for _, l := range item.Lines() {
		style := m.theme.Dim
		switch l.Class {
		case "added":
			style = m.theme.Added
		case "removed":
			style = m.theme.Removed
		}
		rows, _, _ := display.NewLine(strings.ReplaceAll(l.Text, "\t", "    ")).Rows(m.width)
		for _, row := range rows {
			lines = append(lines, style.Render(row))
		}
	}
	return lines
}

// rows are the items around the chosen one, a line each.
func (m *model) rows(room int) (lines []string) {
	first := max(min(m.at-room/2, len(m.list.Items)-room), 0)
	for i := first; i < len(m.list.Items) && len(lines) < room; i++ {
		item := &m.list.Items[i]
		mark, style := "  ", m.theme.Text
		if i == m.at {
			mark, style = "> ", m.theme.Selected
		}
		state := cmp.Or(string(item.State), "open")
		text := render.Cut(fmt.Sprintf("%s%-11s  %s  %s", mark, state, item.Place(), strings.Join(item.Reasons, "; ")), m.width)
		lines = append(lines, style.Render(text))
	}
	return lines
}

// foot is what is being asked or typed, or the last outcome, and the keys that work now.
func (m *model) foot() (lines []string, row, column int) {
	row = -1
	if m.notice != "" {
		style := m.theme.Good
		if m.bad {
			style = m.theme.Failure
		}
		for part := range strings.SplitSeq(m.notice, "\n") {
			for _, text := range m.wrapped(part) {
				lines = append(lines, style.Render(text))
			}
		}
	}
	switch m.mode {
	case asking:
		for _, text := range m.wrapped(fmt.Sprintf("Put %s back to how it was before the loop? All is kept as it is now.", m.item().File)) {
			lines = append(lines, m.theme.Warning.Render(text))
		}
	case typing:
		for _, text := range m.wrapped(m.purpose()) {
			lines = append(lines, m.theme.Dim.Render(text))
		}
		const label = "> "
		rows, at, col := m.input.Rows(max(m.width-len(label)-1, 1))
		first := max(at-2, 0)
		row, column = len(lines)+at-first, len(label)+col
		for i, text := range rows[first:min(first+3, len(rows))] {
			before := strings.Repeat(" ", len(label))
			if first+i == 0 {
				before = m.theme.Accent.Render(label)
			}
			lines = append(lines, before+text)
		}
	}
	return append(lines, m.theme.Dim.Render(m.keys())), row, column
}

// purpose says what happens to the words.
func (m *model) purpose() string {
	if m.alive {
		return "Your words about this are in the next prompt of " + m.name + ":"
	}
	purpose := "These words about it resume " + m.name
	if m.more != "" {
		purpose += ", " + m.more
	}
	return purpose + ":"
}

// keys are the keys that work now, as many as fit; the manual has all.
func (m *model) keys() string {
	keys, always := []string{"a approve", "s send back", "r roll back", "n next", "p previous", "l list"}, "? manual · q leave"
	switch m.mode {
	case typing:
		keys, always = []string{"alt+enter new line"}, "enter sends · esc leaves"
	case asking:
		keys, always = nil, "enter puts it back · esc no"
	case listing:
		keys, always = []string{"↑↓ choose", "a approve"}, "enter shows it · q back"
	}
	text := ""
	for _, key := range keys {
		if longer := text + key + " · "; render.Columns(longer+always) <= m.width {
			text = longer
		}
	}
	return render.Cut(text+always, m.width)
}

// manualKeys are all keys, with what they do.
var manualKeys = [][2]string{
	{"a", "approve what is on the screen; the next open item follows"},
	{"s", "send it back with words: a live loop has them in its next prompt, another is resumed with them"},
	{"r", "roll its file back to how it was before the loop; all is kept first"},
	{"n →", "the next item"},
	{"p ←", "the one before"},
	{"↑ ↓ j k", "scroll; page up, page down, home and end go further"},
	{"l", "the list of all items, with what is left"},
	{"q ctrl+c", "leave; what was decided is kept"},
}

func (m *model) manual() []string {
	const left = 10
	lines := []string{m.theme.Bold.Render("Keys"), ""}
	for _, pair := range manualKeys {
		term := m.theme.Accent.Render(pair[0]) + strings.Repeat(" ", max(left-render.Columns(pair[0]), 1))
		for _, row := range cli.Wrapped(pair[1], m.width-left) {
			lines = append(lines, term+render.Cut(row, max(m.width-left, 1)))
			term = strings.Repeat(" ", left)
		}
	}
	room := max(m.height-1, 0)
	return append(lines[:min(room, len(lines))], m.theme.Dim.Render(render.Cut("any key comes back", m.width)))
}
