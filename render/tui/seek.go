package tui

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/transcript"
)

// foundMsg is the result of a search in the journal.
type foundMsg struct {
	what string
	page transcript.Page
	seq  event.Seq // of the entry; 0 if there is none
	err  error
}

// A matcher reports whether an entry is what a person looks for.
type matcher func(transcript.Entry) bool

// seek finds the next entry that matches: among those loaded, else in the journal.
func (m *model) seek(what string, forward bool, match matcher) tea.Cmd {
	m.stopSeek()
	if m.conv.Find(forward, match) {
		m.notice = notice{}
		return m.more()
	}
	if forward && m.win.live || !forward && m.win.start {
		m.say(toneDim, "no other "+what+" "+way(forward))
		return nil
	}
	m.say(toneDim, "looking for "+what+" … (esc stops)")
	ctx, stop := context.WithCancel(m.ctx)
	m.stopSeek = func() {
		stop()
		m.stopSeek = func() {}
	}
	s := seeker{dir: m.o.Dir, options: m.pageOptions(), match: match, limit: m.limit()}
	from := m.win.first
	if forward {
		from = m.win.last + 1
	}
	return func() tea.Msg {
		seq, err := s.find(ctx, from, forward)
		if ctx.Err() != nil {
			return nil
		}
		found := foundMsg{what: what, seq: seq, err: err}
		if seq > 0 && err == nil {
			found.page, found.err = around(s.dir, seq, s.limit, s.options)
		}
		return found
	}
}

func way(forward bool) string {
	if forward {
		return "below"
	}
	return "above"
}

// seeker looks through a journal, segment by segment, with no more than some entries in memory.
type seeker struct {
	dir     string
	options transcript.Options
	match   matcher
	limit   event.Seq // the last event; 0 is that of the journal
}

// find returns the first matching entry from an event on, or the last one before it; 0 if there is
// none.
func (s *seeker) find(ctx context.Context, from event.Seq, forward bool) (event.Seq, error) {
	segments, err := journal.Segments(s.dir)
	if err != nil {
		return 0, err
	}
	if !forward {
		slices.Reverse(segments)
	}
	for _, segment := range segments {
		first, err := firstIn(s.dir, segment)
		switch {
		case ctx.Err() != nil || err != nil:
			return 0, err
		case !forward && first >= from:
			continue
		}
		seq, err := s.within(ctx, segment, from, forward)
		if seq > 0 || err != nil {
			return seq, err
		}
	}
	return 0, nil
}

// seekStep is how many events are read before their entries are compared.
const seekStep = 200

// within looks through one segment.
func (s *seeker) within(ctx context.Context, segment journal.SegmentInfo, from event.Seq, forward bool) (found event.Seq, err error) {
	b := transcript.New(s.options)
	compare := func() bool {
		for _, e := range b.Take() {
			if (forward == (e.Seq >= from)) && s.match(e) {
				if found = max(found, e.Seq); forward {
					return true
				}
			}
		}
		return false
	}
	n := 0
	for e, err := range journal.Read(pathIn(s.dir, segment), journal.ReadOptions{}) {
		if err != nil || !forward && e.Seq >= from || s.limit > 0 && e.Seq > s.limit {
			compare()
			return found, err
		}
		b.Add(e)
		if n++; n%seekStep == 0 && (compare() || ctx.Err() != nil) {
			return found, nil
		}
	}
	compare()
	return found, nil
}

// pathIn is the file of a segment.
func pathIn(dir string, segment journal.SegmentInfo) string {
	path := filepath.Join(dir, "journal", segment.Name)
	if segment.Packed {
		path += ".zst"
	}
	return path
}

// firstIn returns the first event of a segment.
func firstIn(dir string, segment journal.SegmentInfo) (event.Seq, error) {
	for e, err := range journal.Read(pathIn(dir, segment), journal.ReadOptions{}) {
		return e.Seq, err
	}
	return 0, nil
}

// beforeMost is how many events are read before an entry that is shown: a page begins where an
// entry does.
const beforeMost = 300

// around returns the page that an event is in, and what follows it.
func around(dir string, seq, limit event.Seq, o transcript.Options) (transcript.Page, error) {
	from := event.Seq(1)
	if seq > beforeMost {
		from = seq - beforeMost
	}
	return readUpTo(dir, from, limit, pageEvents+beforeMost, o)
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
func containing(text string) matcher {
	text = strings.ToLower(text)
	return func(e transcript.Entry) bool { return strings.Contains(strings.ToLower(plainText(e)), text) }
}
