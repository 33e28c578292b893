package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/terminal"
	"github.com/ralph-loop/ralph/render/transcript"
)

// simple is a Conversation for tests: each entry is its kind and its text.
type simple struct {
	columns, rows int
	entries       []transcript.Entry
	top           int // of the lines; -1 at the end
	at            event.Seq
	theme         terminal.Theme
	mark          string
	key           string // of what is laid out
	laid          []string
	changed       int
}

func newSimple() Conversation { return &simple{columns: 80, rows: 20, top: -1} }

func (s *simple) Resize(columns, rows int)      { s.columns, s.rows = columns, rows }
func (s *simple) SetTheme(theme terminal.Theme) { s.theme = theme }
func (s *simple) Len() int                      { return len(s.entries) }
func (s *simple) Highlight(text string)         { s.mark = text }
func (s *simple) Toggle()                       {}
func (s *simple) ToggleAll()                    {}
func (s *simple) Deselect()                     { s.at = 0 }

func (s *simple) First() event.Seq { return firstOf(s.entries) }

func (s *simple) Last() event.Seq {
	if len(s.entries) == 0 {
		return 0
	}
	return s.entries[len(s.entries)-1].Seq
}

func (s *simple) Put(entries []transcript.Entry) {
	s.changed++
	for _, e := range entries {
		at, ok := slices.BinarySearchFunc(s.entries, e.Seq, func(x transcript.Entry, seq event.Seq) int { return int(int64(x.Seq) - int64(seq)) })
		if ok {
			s.entries[at] = e
			continue
		}
		s.entries = slices.Insert(s.entries, at, e)
	}
}

func (s *simple) Prepend(entries []transcript.Entry) {
	before := len(s.all())
	s.entries = append(slices.Clone(entries), s.entries...)
	if s.top >= 0 {
		s.top += len(s.all()) - before
	}
}

func (s *simple) Replace(entries []transcript.Entry) {
	s.entries, s.top, s.at = slices.Clone(entries), -1, 0
}

func (s *simple) Trim(n int) { s.entries = s.entries[max(len(s.entries)-n, 0):] }

func (s *simple) TrimEnd(n int) { s.entries = s.entries[:min(n, len(s.entries))] }

func (s *simple) all() []string {
	key := fmt.Sprint(len(s.entries), s.First(), s.Last(), s.at, s.columns, s.changed)
	if s.key == key {
		return s.laid
	}
	s.key, s.laid = key, nil
	for _, e := range s.entries {
		s.laid = append(s.laid, s.of(e)...)
	}
	return s.laid
}

func (s *simple) of(e transcript.Entry) (lines []string) {
	lead := "  "
	if e.Seq == s.at {
		lead = "> "
	}
	for _, line := range strings.Split(string(e.Body.Kind())+": "+plainText(e), "\n") {
		lines = append(lines, render.Cut(lead+render.Clean(line), s.columns))
	}
	return lines
}

func (s *simple) Lines(time.Time) []string {
	lines := s.all()
	top := s.top
	if last := max(len(lines)-s.rows, 0); top < 0 || top > last {
		top = last
	}
	return lines[top:min(top+s.rows, len(lines))]
}

func (s *simple) Scroll(by int) {
	last := max(len(s.all())-s.rows, 0)
	if s.top < 0 {
		s.top = last
	}
	if s.top = max(s.top+by, 0); s.top >= last {
		s.top = -1
	}
}

func (s *simple) ToStart()      { s.top = 0 }
func (s *simple) ToEnd()        { s.top = -1 }
func (s *simple) AtStart() bool { return s.top == 0 || len(s.all()) <= s.rows }
func (s *simple) AtEnd() bool   { return s.top < 0 }

func (s *simple) index() int {
	return slices.IndexFunc(s.entries, func(e transcript.Entry) bool { return e.Seq == s.at })
}

func (s *simple) Select(by int) {
	at := s.index()
	if at < 0 {
		at = len(s.entries)
		if by > 0 {
			at = len(s.entries) - 2
		}
	}
	if at = max(min(at+by, len(s.entries)-1), 0); at < len(s.entries) {
		s.at = s.entries[at].Seq
	}
}

func (s *simple) Reselect() {}

func (s *simple) Selected() (transcript.Entry, bool) {
	if at := s.index(); at >= 0 {
		return s.entries[at], true
	}
	return transcript.Entry{}, false
}

func (s *simple) SelectedText() string {
	e, ok := s.Selected()
	if !ok {
		return ""
	}
	return plainText(e)
}

func (s *simple) Find(forward bool, match func(transcript.Entry) bool) bool {
	at := s.index()
	if at < 0 {
		at = len(s.entries)
	}
	for {
		if at--; forward {
			at += 2
		}
		if at < 0 || at >= len(s.entries) {
			return false
		}
		if match(s.entries[at]) {
			return s.JumpTo(s.entries[at].Seq)
		}
	}
}

func (s *simple) JumpTo(seq event.Seq) bool {
	line := 0
	for _, e := range s.entries {
		if e.Seq == seq {
			s.at, s.top = seq, line
			return true
		}
		line += len(s.of(e))
	}
	return false
}
