package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-loop/ralph/inbox"
)

// key handles a key.
func (m *model) key(k tea.KeyPressMsg) tea.Cmd {
	stroke := k.Keystroke()
	if stroke == "ctrl+l" {
		return tea.ClearScreen
	}
	if m.overlay != nil {
		c, closed := m.overlay.key(m, k)
		if closed {
			m.overlay = nil
		}
		return c
	}
	if m.dialog != nil {
		c, closed := m.dialog.key(m, k)
		if closed {
			m.dialog = nil
		}
		return c
	}
	if stroke == "ctrl+c" {
		return m.interrupt()
	}
	switch m.focus {
	case searching:
		return m.searchKey(k)
	case listing:
		return m.side.key(m, k)
	case going:
		m.goKey(k)
		return nil
	case reading:
		return m.readKey(k)
	}
	return m.typeKey(k)
}

// interrupt asks what ctrl-c means, and clears the line first if there is something in it.
func (m *model) interrupt() tea.Cmd {
	switch {
	case m.over || m.o.ReadOnly:
		return tea.Quit
	case m.focus == typing && !m.line.empty():
		m.line.take()
		return nil
	}
	m.dialog = &leaving
	return nil
}

// typeKey handles a key in the line.
func (m *model) typeKey(k tea.KeyPressMsg) tea.Cmd {
	stroke := k.Keystroke()
	empty := m.line.empty()
	switch stroke {
	case "enter":
		return m.submit(inbox.Steer)
	case "alt+enter":
		return m.submit(inbox.FollowUp)
	case "alt+up":
		return m.takeBack()
	case "alt+1", "alt+2", "alt+3", "alt+4", "alt+5", "alt+6", "alt+7", "alt+8", "alt+9":
		m.choose(int(stroke[len(stroke)-1] - '0'))
		return nil
	case "tab":
		if completed, choices := complete(m.line.String()); len(choices) > 0 {
			m.line.set(completed)
			return nil
		}
		m.read()
		return nil
	case "esc":
		m.read()
		return nil
	case "ctrl+d":
		if empty {
			return tea.Quit
		}
		m.line.cut(m.line.at, min(m.line.at+1, len(m.line.text)))
		return nil
	case "up", "down":
		if m.recalls() {
			m.line.back(map[string]int{"up": 1, "down": -1}[stroke])
			return nil
		}
	case "?":
		if empty {
			m.overlay = m.manual()
			return nil
		}
	case "home", "end":
		if empty {
			stroke = "ctrl+" + stroke
		}
	}
	if c, ok := m.moveKey(stroke); ok {
		return c
	}
	m.line.key(k)
	return nil
}

// recalls reports whether up and down bring back what was typed before. They scroll while what is
// shown is not the end.
func (m *model) recalls() bool {
	return m.focus == typing && m.overlay == nil && len(m.line.past) > 0 && (!m.line.empty() || m.conv.AtEnd() || m.inline != nil)
}

// wheelLines is how far one step of the mouse's wheel scrolls.
const wheelLines = 3

// wheel scrolls by the mouse's wheel.
func (m *model) wheel(w tea.MouseWheelMsg) tea.Cmd {
	by := map[tea.MouseButton]int{tea.MouseWheelUp: -wheelLines, tea.MouseWheelDown: wheelLines}[w.Button]
	if by == 0 || m.overlay != nil {
		return nil
	}
	m.conv.Scroll(by)
	return m.more()
}

// moveKey handles the keys that move the view wherever the focus is.
func (m *model) moveKey(stroke string) (tea.Cmd, bool) {
	page := max(m.bodyRows()-2, 1)
	switch stroke {
	case "up":
		m.conv.Scroll(-1)
	case "down":
		m.conv.Scroll(1)
	case "pgup", "shift+up":
		m.conv.Scroll(-page)
	case "pgdown", "shift+down":
		m.conv.Scroll(page)
	case "ctrl+home":
		return m.toStart(), true
	case "ctrl+end":
		m.toEnd()
	case "ctrl+f":
		m.search()
		return nil, true
	case "ctrl+t":
		return m.toggleSide(), true
	default:
		return nil, false
	}
	return m.more(), true
}

// read moves the focus to the conversation.
func (m *model) read() {
	m.focus = reading
}

// typeAgain moves the focus back to the line.
func (m *model) typeAgain() {
	m.conv.Deselect()
	if !m.o.ReadOnly {
		m.focus = typing
	}
}

// readKey handles a key in the conversation.
func (m *model) readKey(k tea.KeyPressMsg) tea.Cmd {
	stroke := k.Keystroke()
	m.conv.Reselect() // keys act on what is shown
	if m.replayKey(k) {
		return nil
	}
	if c, ok := m.moveKey(stroke); ok {
		return c
	}
	if c, ok := m.jumpKey(k.String()); ok {
		return c
	}
	switch k.String() {
	case "j", "k":
		m.conv.Select(map[string]int{"j": 1, "k": -1}[stroke])
		return m.more()
	case "space", " ":
		m.toggle()
	case "z":
		m.conv.ToggleAll()
	case "ctrl+u", "ctrl+d":
		if stroke == "ctrl+d" && m.conv.AtEnd() {
			return tea.Quit
		}
		m.conv.Scroll(map[string]int{"ctrl+u": -1, "ctrl+d": 1}[stroke] * max(m.bodyRows()/2, 1))
		return m.more()
	case "g", "home":
		c := m.toStart()
		if m.win.start {
			m.conv.Select(-m.conv.Len())
		}
		return c
	case "G", "end":
		m.toEnd()
		m.conv.Select(m.conv.Len())
		return m.more()
	case "/":
		m.search()
	case "n", "N":
		return m.again(k.String() == "n")
	case "y":
		return m.copySelected()
	case "o":
		return m.openFile()
	case "d":
		return m.showDiff()
	case "l":
		return m.toggleSide()
	case "?":
		m.overlay = m.manual()
	case "q":
		return tea.Quit
	case "esc":
		m.back()
	case "i", "enter", "tab":
		if m.o.ReadOnly { // there is no line
			if stroke == "enter" {
				m.toggle()
			}
			return nil
		}
		m.stopSeek()
		m.typeAgain()
	}
	return nil
}

// back ends a search, else the selection. It never leads to the line.
func (m *model) back() {
	if m.stopSeek(); m.found != "" {
		m.found = ""
		m.conv.Highlight("")
		return
	}
	m.conv.Deselect()
}

// jumpKey handles the keys that jump to the next or the previous entry of a kind.
func (m *model) jumpKey(typed string) (tea.Cmd, bool) {
	target, ok := map[string]string{
		"]": "iteration", "[": "iteration", "f": "failure", "F": "failure",
		"c": "commit", "C": "commit", "s": "message", "S": "message",
	}[typed]
	if !ok {
		return nil, false
	}
	forward := typed == "]" || typed == strings.ToLower(typed) && typed != "["
	return m.seek(target, forward, targets[target]), true
}

func (m *model) toggle() {
	if _, ok := m.conv.Selected(); !ok {
		m.conv.Select(-1)
	}
	m.conv.Toggle()
}

// toStart shows the first entries of the journal.
func (m *model) toStart() tea.Cmd {
	if m.win.start {
		m.conv.ToStart()
		return nil
	}
	return m.visitFrom(func() (uint64, error) { return 0, nil })
}

// search moves the focus to the line for what is searched.
func (m *model) search() {
	m.focus = searching
	m.query = editor{past: m.query.past}
}

func (m *model) searchKey(k tea.KeyPressMsg) tea.Cmd {
	switch k.Keystroke() {
	case "esc":
		m.read()
		return nil
	case "enter":
		text := m.query.take()
		m.read()
		if text == "" {
			return nil
		}
		m.found, m.forwards = text, !m.conv.AtEnd()
		m.conv.Highlight(text)
		return m.again(true)
	case "up", "down":
		m.query.back(map[string]int{"up": 1, "down": -1}[k.Keystroke()])
		return nil
	}
	m.query.key(k)
	return nil
}

// again searches on, in the same direction or in the other one.
func (m *model) again(same bool) tea.Cmd {
	if m.found == "" {
		m.search()
		return nil
	}
	return m.seek("“"+m.found+"”", m.forwards == same, containing(m.found))
}

// paste inserts what was pasted into the line that has the focus.
func (m *model) paste(text string) {
	m.dialog = nil
	switch {
	case m.overlay != nil:
	case m.focus == searching:
		m.query.insert(strings.ReplaceAll(text, "\n", " "))
	case !m.o.ReadOnly:
		m.typeAgain()
		m.line.insert(text)
	}
}

// submit sends what was typed. kind is that of words without a command.
func (m *model) submit(kind inbox.Kind) tea.Cmd {
	text := strings.TrimSpace(m.line.String())
	if text == "" {
		return nil
	}
	about := m.subject.about(m.view)
	typed := Parse(text, about)
	plain := !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//")
	bound := plain && kind == inbox.Steer || numberless(text, about)
	switch {
	case typed.Problem != "":
		m.say(toneFailure, typed.Problem)
		return nil // the line stays, to be corrected
	case typed.Help:
		m.line.take()
		m.overlay = m.manual()
		return nil
	case typed.Leave:
		m.line.take()
		return tea.Quit
	case m.over && !typed.Commands[0].Kind.IsMessage():
		m.say(toneWarning, "the loop is over; a line of words and enter resume it")
		return nil
	case m.over: // the line is a draft: it was begun before the end, or for another program
		asks := resuming(typed.Commands[0].Text, m.view.More)
		m.dialog = &asks
		return nil
	case typed.Commands[0].Kind == inbox.Kill:
		m.dialog = &killing
		return nil
	case bound && m.changed(!plain) != "":
		m.say(toneWarning, m.changed(!plain))
		m.subject = subjectOf(m.view, m.needsPerson())
		return nil // the line stays, to be sent with the next enter
	case bound && plain && m.subject.needs:
		typed.Commands = answer(typed.Commands[0].Text, about)
	case plain:
		typed.Commands[0].Kind = kind
	}
	m.line.take()
	m.toEnd()
	return m.send(typed.Commands...)
}
