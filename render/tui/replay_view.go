package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/playback"
	"github.com/ralph-loop/ralph/render/transcript"
)

// This file is the model's part of a replay: its keys, and the line that shows how far it is.

// promptGo is the prompt of the line for where to go.
const promptGo = "go to event, or i and iteration: "

// replayKey handles the keys of a replay. ok is false for all others, which do what they always do.
func (m *model) replayKey(k tea.KeyPressMsg) (ok bool) {
	if m.player == nil {
		return false
	}
	var do func(*player)
	switch k.String() {
	case "space", " ":
		do = (*player).togglePause
	case ".":
		do = func(p *player) { p.step(false) }
	case ">":
		do = func(p *player) { p.step(true) }
	case "+", "=":
		do = func(p *player) { p.setSpeed((*playback.Clock).Faster) }
	case "-", "_":
		do = func(p *player) { p.setSpeed((*playback.Clock).Slower) }
	case "]":
		do = func(p *player) { p.iterate(true) }
	case "[":
		do = func(p *player) { p.iterate(false) }
	case "f":
		do = (*player).toFailure
	case "g":
		m.focus = going
		m.query = editor{}
		return true
	default:
		return false
	}
	m.toEnd()
	m.notice = notice{}
	m.player.order(do)
	return true
}

// goKey handles a key in the line for where to go.
func (m *model) goKey(k tea.KeyPressMsg) {
	switch k.Keystroke() {
	case "esc", "ctrl+c":
		m.read()
	case "enter":
		typed := m.query.take()
		m.read()
		if typed != "" && m.player != nil {
			m.toEnd()
			m.notice = notice{}
			m.player.order(func(p *player) { p.goTo(typed) })
		}
	default:
		m.query.key(k)
	}
}

// replaced shows the page that a jump came to instead of what was shown.
func (m *model) replaced(page transcript.Page) {
	m.recent = nil
	m.remember(page.Entries)
	m.win = window{first: page.First, start: page.Start || page.First == 0, live: true}
	m.conv.Replace(page.Entries)
}

// limit is the last event that may be shown, 0 for any: a replay does not show what is to come.
func (m *model) limit() event.Seq {
	if m.progress == nil {
		return 0
	}
	return max(m.progress.at, 1)
}

// readUpTo is transcript.Read without the events after a limit.
func readUpTo(dir string, seq, limit event.Seq, n int, o transcript.Options) (transcript.Page, error) {
	if limit == 0 {
		return transcript.Read(dir, seq, n, o)
	}
	if seq > limit {
		return transcript.Page{End: true}, nil
	}
	page, err := transcript.Read(dir, seq, min(n, int(limit-max(seq, 1))+1), o)
	page.End = page.End || page.Last >= limit
	return page, err
}

// barColumns is the least that is left for the bar.
const barColumns = 8

// replayLine shows how far a replay is, how fast it goes and what time it was.
func (m *model) replayLine(columns int) string {
	p, t := m.progress, m.theme
	word, style := "plays at "+speedText(p.speed), t.Good
	switch {
	case p.ended:
		word, style = "at the end", t.Accent
	case p.paused:
		word, style = "paused, "+speedText(p.speed), t.Warning
	}
	facts := []string{fmt.Sprintf("event %d of %d", p.at, p.last)}
	if n := p.iteration; n > 0 {
		facts = append(facts, "iteration "+strconv.Itoa(n))
	}
	facts = append(facts, m.now.In(time.Local).Format("2006-01-02 15:04:05"))
	text := ""
	for _, f := range facts {
		if render.Columns(word+text+between+f) <= columns {
			text += between + f
		}
	}
	line := style.Render(render.Cut(word, columns)) + t.Dim.Render(text)
	rest := columns - render.Columns(word+text) - 1
	if rest < barColumns || p.last == 0 {
		return line
	}
	done := int(uint64(rest) * uint64(min(p.at, p.last)) / uint64(p.last))
	return line + " " + t.Accent.Render(strings.Repeat("━", done)) + t.Border.Render(strings.Repeat("─", rest-done))
}

// speedText spells a speed.
func speedText(speed float64) string {
	if speed == playback.NoDelay {
		return "full speed"
	}
	return strconv.FormatFloat(speed, 'g', 4, 64) + "x"
}

// replayHints are the keys of a replay.
func (m *model) replayHints() []hint {
	pause := hint{"space", "pause"}
	switch {
	case m.progress.ended:
		pause.does = "again"
	case m.progress.paused:
		pause.does = "play"
	}
	return []hint{pause, {".", "step"}, {"+ -", "speed"}, {"[ ]", "iteration"}, {"f", "failure"}, {"g", "go to"},
		{"?", "keys"}, {">", "next entry"}, {"j k", "select"}, {"/", "search"}, {"l", "list"}, {"q", "leave"}}
}

// replayKeys are the keys of a replay, for the manual.
var replayKeys = []hint{
	{"space", "pause, play on; at the end, play again"},
	{".", "pause, and show the next thing that happened"},
	{">", "the same up to where the next entry begins"},
	{"+, -", "faster, slower"},
	{"[, ]", "back to the beginning of this iteration, then of the one before; the next one"},
	{"f", "the next failure: of a tool, a guardrail, a claim, an iteration"},
	{"g", "go to an event by its number, or to an iteration: i3"},
}

// besideReplay are the keys of the conversation that a replay leaves as they are.
func besideReplay(keys []hint) (kept []hint) {
	other := map[string]string{"space, enter": "enter", "g, G": "home, G", "[, ]": "", "F, f": ""}
	for _, k := range keys {
		if name, taken := other[k.key]; taken {
			k.key = name
		}
		if k.key != "" {
			kept = append(kept, k)
		}
	}
	return kept
}
