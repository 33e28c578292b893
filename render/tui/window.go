package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/transcript"
)

// window is the part of the journal that the conversation has.
type window struct {
	first, last event.Seq // events
	start       bool      // the journal has nothing before
	live        bool      // it has the newest entries, and gets those that come
	loading     bool
	bytes       int // of its texts, about
}

// Bounds of what is kept in memory, in entries and in bytes of their texts.
const (
	recentKept  = 1000
	recentBytes = 8 << 20
	trimAbove   = 3000
	windowMost  = 6000
	windowBytes = 24 << 20
)

// pageMsg is a page that was loaded.
type pageMsg struct {
	page  transcript.Page
	older bool
	err   error
}

// remember keeps the newest entries, whatever the conversation shows. It returns by how many bytes
// they have grown.
func (m *model) remember(entries []transcript.Entry) (grown int) {
	for _, e := range entries {
		grown += sizeOf(e)
		at, ok := slices.BinarySearchFunc(m.recent, e.Seq, func(x transcript.Entry, seq event.Seq) int { return int(int64(x.Seq) - int64(seq)) })
		switch {
		case ok:
			grown -= sizeOf(m.recent[at])
			m.recent[at] = e
		case at > 0 || len(m.recent) == 0:
			m.recent = slices.Insert(m.recent, at, e)
		}
	}
	kept, bytes := 0, 0
	for kept < min(len(m.recent), recentKept) && bytes < recentBytes {
		kept++
		bytes += sizeOf(m.recent[len(m.recent)-kept])
	}
	if n := len(m.recent) - kept; n > 0 {
		m.recent = slices.Delete(m.recent, 0, n)
	}
	return grown
}

// sizeOf is about how many bytes an entry takes.
func sizeOf(e transcript.Entry) int {
	const without = 512
	switch b := e.Body.(type) {
	case transcript.Words:
		return without + len(b.Text)
	case transcript.Thinking:
		return without + len(b.Text)
	case transcript.Iteration:
		return without + len(b.Prompt)
	case transcript.Guardrail:
		return without + len(b.Output)
	case transcript.Tools:
		n := without
		for _, c := range b.Calls {
			n += without + len(c.Input) + len(c.Output) + 64*len(c.Diff)
		}
		return n
	}
	return without
}

func sizeOfAll(entries []transcript.Entry) (n int) {
	for _, e := range entries {
		n += sizeOf(e)
	}
	return n
}

// show adds what came to the conversation, if that shows the newest entries.
func (m *model) show(entries []transcript.Entry) {
	grown := m.remember(entries)
	if !m.win.live {
		return
	}
	m.conv.Put(entries)
	m.win.bytes += grown
	switch full := m.win.bytes > windowBytes; {
	case (full || m.conv.Len() > trimAbove) && m.conv.AtEnd():
		m.trim()
	case full && m.win.bytes > 2*windowBytes || m.conv.Len() > windowMost:
		m.win.live, m.win.last = false, m.conv.Last()
	}
}

// trim keeps the newest entries of the conversation.
func (m *model) trim() {
	m.conv.Trim(len(m.recent))
	m.win.first, m.win.start, m.win.bytes = m.conv.First(), false, sizeOfAll(m.recent)
}

// toEnd shows the newest entries.
func (m *model) toEnd() {
	if !m.win.live && len(m.recent) > 0 {
		m.conv.Replace(m.recent)
		m.win = window{first: m.recent[0].Seq, live: true, start: m.recent[0].Seq <= 1}
	}
	m.conv.ToEnd()
}

// more loads a page if the view has come to the first or last entry that is loaded.
func (m *model) more() tea.Cmd {
	switch {
	case m.win.loading || !m.opened:
		return nil
	case m.conv.AtStart() && !m.win.start && !(m.win.live && m.conv.AtEnd() && m.conv.Len() > m.rows):
		m.win.loading = true
		dir, seq, o := m.o.Dir, m.win.first, m.pageOptions()
		return func() tea.Msg {
			page, err := transcript.Before(dir, seq, pageEvents, o)
			return pageMsg{page, true, err}
		}
	case m.conv.AtEnd() && !m.win.live:
		m.win.loading = true
		dir, seq, limit, o := m.o.Dir, m.win.last+1, m.limit(), m.pageOptions()
		return func() tea.Msg {
			page, err := around(dir, seq, limit, o)
			return pageMsg{page, false, err}
		}
	}
	return nil
}

func (m *model) pageOptions() transcript.Options {
	return transcript.Options{Project: m.view.Project, Maximum: m.view.MaximumIterations, Verbose: m.o.Verbose}
}

// loaded takes in a page.
func (m *model) loaded(p pageMsg) tea.Cmd {
	m.win.loading = false
	if p.err != nil && len(p.page.Entries) == 0 {
		m.win.start = m.win.start || p.older
		m.say(toneFailure, "cannot read the journal: "+p.err.Error())
		if !p.older {
			m.toEnd()
		}
		return nil
	}
	if !p.older {
		m.newer(p.page)
		return m.more()
	}
	if p.page.First > 0 {
		m.win.first = p.page.First
	}
	m.win.start = p.page.Start || p.page.First == 0
	size := sizeOfAll(p.page.Entries)
	m.win.bytes += size
	m.conv.Prepend(p.page.Entries)
	if m.conv.Len() > windowMost || m.win.bytes > windowBytes {
		m.conv.TrimEnd(len(p.page.Entries) + beforeMost)
		m.win.live, m.win.last, m.win.bytes = false, m.conv.Last(), size
	}
	if len(p.page.Entries) == 0 {
		return m.more()
	}
	return nil
}

// newer adds a page at the end, and the newest entries once the page has come to them. What is
// shown stays where it is: a view that is at the end would follow.
func (m *model) newer(p transcript.Page) {
	m.conv.Scroll(-1)
	defer m.conv.Scroll(1)
	entries := slices.DeleteFunc(slices.Clone(p.Entries), func(e transcript.Entry) bool { return e.Last <= m.win.last })
	m.conv.Put(entries)
	m.win.bytes += sizeOfAll(entries)
	m.win.last = max(m.win.last, p.Last)
	if p.End || len(m.recent) > 0 && m.win.last >= m.recent[0].Seq {
		m.conv.Put(m.recent)
		m.win.live = true
		return
	}
	if m.conv.Len() > windowMost || m.win.bytes > windowBytes {
		m.conv.Trim(len(p.Entries) + beforeMost)
		m.win.first, m.win.start, m.win.bytes = m.conv.First(), false, sizeOfAll(p.Entries)
	}
}
