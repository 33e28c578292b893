package review

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/front/display"
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
			return m.begin(reading.Act{Do: reading.RollBack, Item: m.item().ID, File: m.item().File}, "is being put back…"), false
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
