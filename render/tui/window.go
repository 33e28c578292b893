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
}

// Bounds of what is kept in memory, in entries.
const (
	recentKept = 1000
	trimAbove  = 3000
	trimTo     = 2000
	windowMost = 6000
)

// pageMsg is a page that was loaded.
type pageMsg struct {
	page  transcript.Page
	older bool
	err   error
}

// recent remembers the newest entries, whatever the conversation shows.
func (m *model) remember(entries []transcript.Entry) {
	for _, e := range entries {
		at, ok := slices.BinarySearchFunc(m.recent, e.Seq, func(x transcript.Entry, seq event.Seq) int { return int(int64(x.Seq) - int64(seq)) })
		switch {
		case ok:
			m.recent[at] = e
		case at > 0 || len(m.recent) == 0:
			m.recent = slices.Insert(m.recent, at, e)
		}
	}
	if n := len(m.recent) - recentKept; n > recentKept/4 {
		m.recent = slices.Delete(m.recent, 0, n)
	}
}

// show adds what came to the conversation, if that shows the newest entries.
func (m *model) show(entries []transcript.Entry) {
	m.remember(entries)
	if !m.win.live {
		return
	}
	m.conv.Put(entries)
	switch {
	case m.conv.Len() > trimAbove && m.conv.AtEnd():
		m.conv.Trim(trimTo)
		m.win.first, m.win.start = m.conv.First(), false
	case m.conv.Len() > windowMost:
		m.win.live, m.win.last = false, m.conv.Last()
	}
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
		dir, seq, o := m.o.Dir, m.win.last+1, m.pageOptions()
		return func() tea.Msg {
			page, err := transcript.Read(dir, seq, pageEvents, o)
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
	if m.conv.Len()+len(p.page.Entries) > windowMost {
		m.conv.Replace(p.page.Entries)
		m.win.live, m.win.last = false, p.page.Last
		return nil
	}
	m.conv.Prepend(p.page.Entries)
	if len(p.page.Entries) == 0 {
		return m.more()
	}
	return nil
}

// newer adds a page at the end, and the newest entries once the page has come to them.
func (m *model) newer(p transcript.Page) {
	m.conv.Put(p.Entries)
	if p.Last > m.win.last {
		m.win.last = p.Last
	}
	if p.End || len(m.recent) > 0 && m.win.last >= m.recent[0].Seq {
		m.conv.Put(m.recent)
		m.win.live = true
		return
	}
	if m.conv.Len() > windowMost {
		m.conv.Trim(trimTo)
		m.win.first, m.win.start = m.conv.First(), false
	}
}
