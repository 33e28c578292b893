package review

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/display"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/reading"
	"github.com/ralph-loop/ralph/render/terminal"
)

// model is what the screen shows and what the keys do. It reads no file, no clock and no terminal:
// the same lists, keys and sizes give the same screens and acts.
type model struct {
	theme         terminal.Theme
	width, height int
	name          string // of the loop
	loaded

	at     int // the item on the screen
	top    int // its first line of the difference there, or the first line of a list
	mode   mode
	input  display.Line // words for the agent
	notice string
	bad    bool // what the notice says was not done
	busy   bool // an act is being done
}

// loaded is what was read of the loop.
type loaded struct {
	list  reading.List
	known bool   // there was a list
	alive bool   // the loop has a runner
	more  string // what a loop that is resumed may use
}

// mode says what the keys do.
type mode int

const (
	browsing mode = iota
	typing        // words for the agent
	asking        // whether a file is rolled back
	listing       // what is left
	helping       // the manual
)

// show takes the list as it is now. The item on the screen stays there, unless it was decided
// about: then the next open one follows.
func (m *model) show(l loaded, advance bool) {
	id, was := "", m.at
	if item := m.item(); item != nil {
		id = item.ID
	}
	first := !m.known
	l.known = true
	if m.loaded = l; first {
		m.choose(l.list.Next(-1))
		return
	}
	for i := range l.list.Items {
		if l.list.Items[i].ID == id {
			m.at = i
		}
	}
	if next := l.list.Next(was - 1); advance && next >= 0 { // what was rolled back has gone to the end
		m.choose(next)
	}
	m.at = min(m.at, max(len(l.list.Items)-1, 0))
}

func (m *model) item() *reading.Item {
	if m.at < 0 || m.at >= len(m.list.Items) {
		return nil
	}
	return &m.list.Items[m.at]
}

func (m *model) choose(i int) { m.at, m.top = min(max(i, 0), max(len(m.list.Items)-1, 0)), 0 }

func (m *model) say(text string, bad bool) { m.notice, m.bad = text, bad }

// press does what a key means now. It returns what the person decided, and whether they leave. name
// names the key; text is what it types.
func (m *model) press(name, text string) (act *reading.Act, leave bool) {
	if m.busy && name != "ctrl+c" {
		return nil, false
	}
	m.say("", false)
	switch m.mode {
	case typing:
		return m.typeWords(name, text), false
	case asking:
		m.mode = browsing
		if name == "enter" {
			return m.begin(reading.Act{Do: reading.RollBack, File: m.item().File}, "is being put back…"), false
		}
		m.say("it is left as it is", false)
		return nil, false
	case helping:
		m.mode = browsing
		return nil, name == "ctrl+c"
	}
	return m.browse(name)
}

func (m *model) browse(name string) (act *reading.Act, leave bool) {
	item, page := m.item(), max(m.height/2, 1)
	switch name {
	case "q", "ctrl+c":
		if m.mode == listing && name == "q" {
			m.mode, m.top = browsing, 0
			return nil, false
		}
		return nil, true
	case "?":
		m.mode = helping
	case "l", "esc", "enter":
		if m.mode == listing || name == "l" {
			m.top = 0
			if m.mode = listing - m.mode; m.mode != listing {
				m.mode = browsing
			}
		}
	case "n", "right", "tab":
		m.choose(m.at + 1)
	case "p", "left", "shift+tab":
		m.choose(m.at - 1)
	case "up", "k":
		m.move(-1)
	case "down", "j":
		m.move(1)
	case "pgup":
		m.move(-page)
	case "pgdown", "space":
		m.move(page)
	case "home", "g":
		m.move(-len(m.list.Items) - len(m.difference()))
	case "end", "G":
		m.move(len(m.list.Items) + len(m.difference()))
	case "a":
		if item != nil {
			return m.begin(reading.Act{Do: reading.Approve, Item: item.ID}, "is being approved…"), false
		}
	case "s":
		if item != nil {
			m.mode, m.input = typing, display.Line{}
		}
	case "r":
		m.askRollBack(item)
	}
	return nil, false
}

// move scrolls the difference, or chooses another item of the list.
func (m *model) move(by int) {
	if m.mode == listing {
		m.at = min(max(m.at+by, 0), max(len(m.list.Items)-1, 0))
		return
	}
	m.top = max(m.top+by, 0) // its end is known when it is drawn
}

func (m *model) askRollBack(item *reading.Item) {
	switch {
	case item == nil:
	case item.File == "":
		m.say(fmt.Sprintf("these are several files: 'ralph review %s --roll-back FILE' puts one back", m.name), true)
	case m.alive:
		m.say(fmt.Sprintf("%s is running: s sends this back with words, or 'ralph stop %s' ends it first", m.name, m.name), true)
	default:
		m.mode = asking
	}
}

func (m *model) begin(act reading.Act, doing string) *reading.Act {
	m.busy = true
	m.say(m.item().Place()+" "+doing, false)
	return &act
}

func (m *model) typeWords(name, text string) *reading.Act {
	words := strings.TrimSpace(m.input.String())
	switch {
	case text != "":
		m.input = m.input.Insert(text)
	case name == "esc", name == "ctrl+c":
		m.mode = browsing
	case name != "enter":
		m.input, _ = m.input.Edit(name)
	case words == "":
		m.say("there are no words yet; esc leaves", true)
	default:
		m.mode = browsing
		return m.begin(reading.Act{Do: reading.SendBack, Item: m.item().ID, Words: words}, "is being sent back…")
	}
	return nil
}

// done takes what became of an act. Words that were not sent can be edited again.
func (m *model) done(act reading.Act, said string, err error) {
	m.busy = false
	m.say(said, false)
	if err != nil {
		m.say(explain(err), true)
		if act.Do == reading.SendBack {
			m.mode = typing
		}
	}
}

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
		if item.Kind == reading.Survivor || item.Kind == reading.Fact || item.Again {
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
