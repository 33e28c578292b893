package tui

import (
	"context"
	"slices"
	"strings"

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

// foundMsg is the result of a search in the journal.
type foundMsg struct {
	what string
	page transcript.Page
	seq  event.Seq // of the entry; 0 if there is none
	err  error
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

// seek finds the next entry that matches: among those loaded, else in the journal.
func (m *model) seek(what string, forward bool, match func(transcript.Entry) bool) tea.Cmd {
	if m.conv.Find(forward, match) {
		m.notice = notice{}
		return m.more()
	}
	if forward && m.win.live || !forward && m.win.start {
		m.say(toneDim, "no other "+what+" "+way(forward))
		return nil
	}
	m.say(toneDim, "looking for "+what+" …")
	ctx, stop := context.WithCancel(m.ctx)
	m.stopSeek()
	m.stopSeek = stop
	dir, from, o := m.o.Dir, m.win.first, m.pageOptions()
	if forward {
		from = m.win.last + 1
	}
	return func() tea.Msg { return seekPages(ctx, dir, from, forward, what, match, o) }
}

func way(forward bool) string {
	if forward {
		return "below"
	}
	return "above"
}

// seekPages reads the journal page by page until an entry matches.
func seekPages(ctx context.Context, dir string, from event.Seq, forward bool, what string, match func(transcript.Entry) bool, o transcript.Options) tea.Msg {
	for ctx.Err() == nil {
		var page transcript.Page
		var err error
		if forward {
			page, err = transcript.Read(dir, from, pageEvents, o)
		} else {
			page, err = transcript.Before(dir, from, pageEvents, o)
		}
		if err != nil {
			return foundMsg{what: what, err: err}
		}
		entries := page.Entries
		if !forward {
			entries = slices.Clone(entries)
			slices.Reverse(entries)
		}
		if at := slices.IndexFunc(entries, match); at >= 0 {
			return foundMsg{what: what, page: page, seq: entries[at].Seq}
		}
		switch {
		case forward && (page.End || page.Last < from), !forward && (page.Start || page.First == 0 || page.First >= from):
			return foundMsg{what: what}
		case forward:
			from = page.Last + 1
		default:
			from = page.First
		}
	}
	return nil
}

// wasFound shows the page with the entry that was looked for.
func (m *model) wasFound(f foundMsg) tea.Cmd {
	switch {
	case f.err != nil:
		m.say(toneFailure, "cannot read the journal: "+f.err.Error())
	case f.seq == 0:
		m.say(toneDim, "the loop has no other "+f.what)
	default:
		m.notice = notice{}
		m.visit(f.page, f.seq)
	}
	return m.more()
}

// visit shows a page that is away from what is loaded.
func (m *model) visit(p transcript.Page, seq event.Seq) {
	m.conv.Replace(p.Entries)
	m.win = window{first: p.First, last: p.Last, start: p.Start}
	if p.End || len(m.recent) > 0 && p.Last >= m.recent[0].Seq {
		m.conv.Put(m.recent)
		m.win.live = true
	}
	m.conv.JumpTo(seq)
}

// containing returns a match for a text in any case of letters.
func containing(text string) func(transcript.Entry) bool {
	text = strings.ToLower(text)
	return func(e transcript.Entry) bool { return strings.Contains(strings.ToLower(plainText(e)), text) }
}
