package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/terminal"
)

// pager shows a text over the conversation: the manual, a diff.
type pager struct {
	title string
	text  []row
	top   int
	rows  int // of the last drawing
	count int // rows that all of the text has there
}

// row is one clean line with its style.
type row struct {
	text  string
	style terminal.Style
	about string // what a key or a command does: it is wrapped, and not cut
}

// pagerMsg has a text that was loaded.
type pagerMsg struct {
	title string
	text  []row
	err   error
}

// showPager shows a text that was loaded.
func (m *model) showPager(msg pagerMsg) {
	if m.notice = (notice{}); msg.err != nil {
		m.say(toneFailure, msg.err.Error())
		return
	}
	m.overlay = &pager{title: msg.title, text: msg.text}
}

func (p *pager) key(_ *model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	page := max(p.rows-2, 1)
	switch k.Keystroke() {
	case "esc", "q", "?", "ctrl+c", "i", "enter", "ctrl+d":
		return nil, true
	case "up", "k":
		p.top--
	case "down", "j":
		p.top++
	case "pgup", "b", "ctrl+u":
		p.top -= page
	case "pgdown", "space", "ctrl+f":
		p.top += page
	case "home", "g":
		p.top = 0
	case "end", "shift+g", "G":
		p.top = p.count
	}
	return nil, false
}

func (p *pager) lines(m *model, columns, rows int) []string {
	text := p.fit(columns)
	p.rows, p.count = rows-1, len(text)
	p.top = max(min(p.top, p.count-p.rows), 0)
	title := p.title
	if p.count > p.rows {
		title += fmt.Sprintf(" (%d to %d of %d lines)", p.top+1, min(p.top+p.rows, p.count), p.count)
	}
	lines := []string{m.theme.Bold.Render(render.Cut(title, columns))}
	for _, r := range text[p.top:min(p.top+p.rows, p.count)] {
		lines = append(lines, r.style.Render(render.Cut(r.text, columns)))
	}
	return lines
}

// fit wraps what the keys do beside them. A diff has no keys, and may be too long to copy for each
// drawing.
func (p *pager) fit(columns int) (rows []row) {
	if !slices.ContainsFunc(p.text, func(r row) bool { return r.about != "" }) {
		return p.text
	}
	for _, r := range p.text {
		margin := render.Columns(r.text)
		for _, line := range wrap(r.about, max(columns-margin, 8)) {
			rows, r.text = append(rows, row{text: padded(r.text, margin) + line, style: r.style}), ""
		}
	}
	return rows
}

func (p *pager) hints() []hint {
	return []hint{{"esc", "back"}, {"↑↓ space b", "scroll"}, {"g G", "first, last"}}
}

// manual is what all keys and commands do.
func (m *model) manual() *pager {
	p := &pager{title: "Keys and commands"}
	section := func(title string, keys ...hint) {
		p.text = append(p.text, row{}, row{text: title, style: m.theme.Accent})
		for _, k := range keys {
			p.text = append(p.text, row{text: "  " + padded(k.key, 18) + " ", about: k.does})
		}
	}
	if !m.o.ReadOnly {
		section("In the line",
			hint{"enter", "give the agent these words now (steer); answer, if the loop needs you"},
			hint{"alt-enter", "put them into the next iteration's prompt (follow-up)"},
			hint{"alt-up", "take back your last message, if the agent does not have it yet"},
			hint{"alt-1 … alt-9", "the answer that the agent expects, by its place"},
			hint{"shift-enter ctrl-j", "a new line"},
			hint{"tab", "complete a command; without one, to the conversation"},
			hint{"esc", "to the conversation, where single keys work"},
			hint{"up, down", "what was typed before; without that, scroll (also ctrl-p, ctrl-n)"},
			hint{"ctrl-a -e -u -k -w", "as in a shell"},
		)
	}
	if m.player != nil {
		section("In a replay", replayKeys...)
	}
	section("Anywhere",
		hint{"up, down, wheel", "scroll"},
		hint{"pgup, pgdn", "scroll by pages"},
		hint{"ctrl-home ctrl-end", "the beginning of the loop, its newest entry"},
		hint{"ctrl-f", "search"},
		hint{"ctrl-t", "the list of iterations"},
		hint{"ctrl-c", "clear the line; without one, ask: finish the iteration, stop now, leave"},
		hint{"ctrl-d", "leave; the loop continues"},
		hint{"ctrl-z", "suspend"},
		hint{"ctrl-l", "draw the screen again"},
	)
	reading := []hint{
		{"i, enter, tab", "back to the line"},
		{"esc", "end a search or a selection"},
		{"j, k", "select the next, the previous entry"},
		{"space", "fold or unfold it; z all"},
		{"g, G", "select the first entry of the loop, its newest one"},
		{"/, n, N", "search, next match, previous match"},
		{"[, ]", "the previous, the next iteration"},
		{"F, f", "the previous, the next failure"},
		{"C, c", "the previous, the next commit"},
		{"S, s", "the previous, the next message of a person"},
		{"y", "copy the selected entry"},
		{"o", "open the file that it names, in $VISUAL or $EDITOR"},
		{"d", "the diff of its iteration"},
		{"l", "the list of iterations"},
		{"q", "leave; the loop continues"},
	}
	if m.o.ReadOnly { // there is no line
		reading = reading[1:]
		for i := range reading {
			if reading[i].key == "space" {
				reading[i].key = "space, enter"
			}
		}
	}
	if m.player != nil {
		reading = besideReplay(reading)
	}
	section("In the conversation", reading...)
	if !m.o.ReadOnly {
		var keys []hint
		for _, w := range words {
			keys = append(keys, hint{w.usage, w.about})
		}
		section("Commands", append(keys, hint{"//TEXT", "words that begin with a slash"})...)
	}
	p.text = p.text[1:]
	return p
}

// diffRows are the lines of a diff as git prints it, which is foreign text.
func diffRows(text string, t terminal.Theme) (rows []row) {
	for line := range strings.Lines(text) {
		style := t.Text
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "):
			style = t.Bold
		case strings.HasPrefix(line, "+"):
			style = t.Added
		case strings.HasPrefix(line, "-"):
			style = t.Removed
		case strings.HasPrefix(line, "@@"):
			style = t.Accent
		}
		rows = append(rows, row{text: strings.TrimRight(render.Clean(strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "    ")), " "), style: style})
	}
	return rows
}
