package board

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/front/listing"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render"
)

// bottom adds the lines below the list: what is being asked or typed, or the last outcome; the
// totals; and the keys that work now.
func (m *Model) bottom(s *Screen) {
	add := func(text string) { s.Lines = append(s.Lines, text) }
	switch m.mode {
	case filtering:
		m.typed(s, "filter: ")
	case answering, steering:
		m.card(s)
	case beginning:
		add(m.Theme.Border.Render(strings.Repeat("─", m.Width)))
		for _, row := range m.wrapped("The task of a new loop in "+m.Project+", with the agent of the settings:", m.Width, 2) {
			add(m.Theme.Dim.Render(row))
		}
		m.typed(s, "> ")
	case stopping, resuming:
		if m.input.String() != "" {
			m.typed(s, "> ")
		}
		for _, row := range m.wrapped(m.question(), m.Width, 3) {
			add(m.Theme.Warning.Render(row))
		}
	}
	if m.notice.text != "" {
		style := m.Theme.Good
		if m.notice.bad {
			style = m.Theme.Failure
		}
		for _, row := range m.wrapped(m.notice.text, m.Width, max(m.Height/3, 1)) {
			add(style.Render(row))
		}
	}
	if m.Height >= 5 {
		add(m.Theme.Bold.Render(render.Cut(m.totals(), m.Width)))
	}
	add(m.Theme.Dim.Render(m.keys()))
}

// totals says how many loops need a person and what all of them cost today.
func (m *Model) totals() string {
	var known float64
	var some bool
	unknown := 0
	for i := range m.items {
		if it := m.items[i]; it.kind == rowItem {
			if usd := m.snapshot.Loops[it.loop].Today; usd == nil {
				unknown++
			} else {
				known += *usd
				some = true
			}
		}
	}
	today := "cost today " + units.Cost(&known)
	switch {
	case unknown > 0 && (!some || known == 0):
		today = "cost today unknown"
	case unknown > 0:
		today += fmt.Sprintf(", unknown for %s", units.Quantity(unknown, "loop"))
	}
	text := needing(m.counts[projector.NeedsYou]) + " · " + today
	switch {
	case m.Here && m.Running:
		text += " · only this project, only with a runner"
	case m.Here:
		text += " · only this project"
	case m.Running:
		text += " · only with a runner"
	}
	if m.filter != "" && m.mode != filtering {
		text += " · filter: " + render.Clean(m.filter)
	}
	return text
}

// needing says how many loops need a person.
func needing(n int) string {
	switch n {
	case 0:
		return "nothing needs you"
	case 1:
		return "1 needs you"
	}
	return fmt.Sprintf("%d need you", n)
}

// keys are the keys that work now, as many as fit; the manual has all.
func (m *Model) keys() string {
	switch m.mode {
	case filtering:
		return m.fitting("enter keeps the filter", "esc clears it", "words match name, project, state, question")
	case answering, steering:
		return m.fitting("enter sends", "esc leaves", "alt+enter new line")
	case beginning:
		return m.fitting("enter starts it", "esc leaves", "alt+enter new line")
	case peeking:
		return m.fitting("esc comes back", "↑↓ another loop", "enter attach", "a answer", "s steer", "x stop")
	case stopping:
		return m.fitting("enter after the iteration", "! now", "esc no")
	case resuming:
		return m.fitting("enter resume", "esc back")
	}
	const always = "? manual · q leave"
	left := m.Width - render.Columns(always+" · ")
	if text := fitting(left, m.browsingKeys()); text != "" {
		return text + " · " + always
	}
	return render.Cut(always, m.Width)
}

func (m *Model) fitting(keys ...string) string { return fitting(m.Width, keys) }

// fitting joins keys, as many as fit.
func fitting(width int, keys []string) string {
	text := ""
	for _, key := range keys {
		longer := key
		if text != "" {
			longer = text + " · " + key
		}
		if render.Columns(longer) > width {
			break
		}
		text = longer
	}
	return text
}

// browsingKeys are the keys for the chosen loop, the most useful first.
func (m *Model) browsingKeys() []string {
	var keys []string
	if m.filter != "" {
		keys = append(keys, "esc clear the filter")
	}
	if l := m.chosen(); l != nil && !l.Gone && l.Error == "" {
		switch {
		case !l.Alive && questionOf(l) > 0:
			keys = append(keys, "a answer and resume", "enter attach", "d dismiss", "r resume")
		case !l.Alive && l.Listed == projector.NeedsYou:
			keys = append(keys, "enter attach", "r resume", "d dismiss", "a resume with a text")
		case !l.Alive:
			keys = append(keys, "enter attach", "r resume", "a resume with a text")
		case l.WaitsForPerson():
			keys = append(keys, "a answer", "enter attach", "x stop", "p resume without an answer")
		case questionOf(l) > 0 && !held(l):
			keys = append(keys, "a answer", "enter attach", "s steer", "x stop", "p pause")
		case questionOf(l) > 0:
			keys = append(keys, "a answer", "p resume", "enter attach", "x stop")
		case held(l):
			keys = append(keys, "p resume", "enter attach", "a resume with a text", "x stop")
		default:
			keys = append(keys, "enter attach", "s steer", "x stop", "p pause")
		}
	}
	if m.chosen() != nil {
		keys = append(keys, "space peek")
	}
	keys = append(keys, "n new loop", "/ filter")
	if m.Here {
		return append(keys, "h all projects")
	}
	return append(keys, "h this project")
}

// question is what the person is asked.
func (m *Model) question() string {
	l := m.loopOf(m.about)
	switch {
	case l == nil:
		return "the loop is gone"
	case m.mode == stopping:
		return "stop " + nameOf(l) + "?"
	case l.Facts == nil:
		return nameOf(l) + ": what it may use is being read…"
	}
	return render.AskResume("loop "+nameOf(l), l.Facts.More, m.input.String() != "")
}

// maxQuestion is how many lines of a loop's question are shown while the person answers it.
const maxQuestion = 14

// card shows what a loop asks, says what happens to the text, and shows the text.
func (m *Model) card(s *Screen) {
	l := m.loopOf(m.about)
	if l == nil {
		s.Lines = append(s.Lines, "the loop is gone")
		return
	}
	s.Lines = append(s.Lines, m.Theme.Border.Render(strings.Repeat("─", m.Width)))
	if l.Facts != nil && l.Facts.Text != "" && m.mode == answering {
		for _, row := range m.wrapped(nameOf(l)+": "+l.Facts.Text, m.Width, min(maxQuestion, max(m.Height/2-3, 1))) {
			s.Lines = append(s.Lines, m.Theme.Warning.Render(row))
		}
	}
	if choices := m.choices(l); choices != "" && m.mode == answering {
		s.Lines = append(s.Lines, m.Theme.Warning.Render(render.Cut("alt+ "+choices, m.Width)))
	}
	for _, row := range m.wrapped(m.purpose(l), m.Width, 2) {
		s.Lines = append(s.Lines, m.Theme.Dim.Render(row))
	}
	m.typed(s, "> ")
}

// purpose says what happens to the text that is being typed.
func (m *Model) purpose(l *listing.Loop) string {
	switch {
	case m.mode == steering:
		return "To the agent of " + nameOf(l) + ", now if it can be steered, else with its next prompt:"
	case l.Alive && m.asked > 0 && l.Status == event.StatusPaused:
		return "Your answer is for the agent of " + nameOf(l) + ", once p has resumed the loop:"
	case l.Alive && m.asked > 0 && !held(l):
		return "Your answer is for the agent of " + nameOf(l) + ", which works on meanwhile:"
	case l.Alive:
		return "Your answer is for the agent of " + nameOf(l) + ", and the loop continues with it:"
	case m.asked > 0:
		return nameOf(l) + " has no runner. This answer is for its next prompt, once it is resumed:"
	}
	return nameOf(l) + " has no runner. This text is for its next prompt, once it is resumed:"
}

// maxTyped is how many lines of a typed text are shown.
const maxTyped = 5

// typed shows the text that is being typed, and the cursor: the part around the cursor if it has
// many lines.
func (m *Model) typed(s *Screen, label string) {
	left := render.Columns(label)
	width := max(m.Width-left-1, 1)
	rows, row, column := m.input.Rows(width)
	first := max(0, row-maxTyped+1)
	for i := first; i < len(rows) && i < first+maxTyped; i++ {
		before := strings.Repeat(" ", left)
		if i == 0 {
			before = m.Theme.Accent.Render(label)
		}
		if i == row {
			s.Row, s.Column = len(s.Lines), left+column
		}
		s.Lines = append(s.Lines, before+rows[i])
	}
}
