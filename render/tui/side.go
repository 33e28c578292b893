package tui

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/transcript"
)

// side is the list of iterations, the newest last.
type side struct {
	items []iteration
	at    int // the chosen one
	shown bool
}

// iteration is one row of the list.
type iteration struct {
	n       int
	began   time.Time
	outcome event.Outcome // empty while it is open
	took    time.Duration
	usd     *float64
	commit  string
	hurt    string // in a word, what went wrong in an iteration that is done
}

// What went wrong in an iteration that is done.
const (
	hurtFailing = "failing" // a guardrail failed
	hurtRefused = "refused" // its claim was
	hurtStuck   = "stuck"   // it made no progress
)

// sideMsg has the iterations that the loop's folder knows.
type sideMsg struct{ items []iteration }

// Bounds of the list: how many iterations are read, and the longest file.
const (
	sideMost     = 2000
	sideFileMost = 1 << 20
	sideColumns  = 34
	sideNarrow   = 90 // with fewer columns, the list covers the conversation
)

// load reads the telemetry of the iterations.
func (s *side) load(m *model) tea.Cmd {
	dir := m.o.Dir
	return func() tea.Msg {
		segments, err := journal.Segments(dir)
		if err != nil {
			return nil
		}
		var numbers []int
		for _, segment := range segments {
			if segment.Iteration > 0 {
				numbers = append(numbers, segment.Iteration)
			}
		}
		slices.Sort(numbers)
		numbers = slices.Compact(numbers)
		var items []iteration
		for _, n := range numbers[max(len(numbers)-sideMost, 0):] {
			items = append(items, readIteration(dir, n))
		}
		return sideMsg{items}
	}
}

// readIteration reads what one iteration came to.
func readIteration(dir string, n int) iteration {
	item := iteration{n: n}
	text, err := safefile.Read(filepath.Join(dir, "iterations", fmt.Sprintf("%03d.json", n)), sideFileMost)
	var read projector.Iteration
	if err != nil || json.Unmarshal(text, &read) != nil {
		return item
	}
	item.began, item.outcome, item.usd = read.Started, read.Outcome, read.Usage.USD
	item.took = time.Duration(read.Took) * time.Millisecond
	if read.Commit != nil {
		item.commit = read.Commit.SHA
	}
	switch {
	case len(read.Failed) > 0:
		item.hurt = hurtFailing
	case len(read.Refused) > 0:
		item.hurt = hurtRefused
	case read.Progress == event.ProgressNo:
		item.hurt = hurtStuck
	}
	return item
}

func (s *side) loaded(m *model, msg sideMsg) {
	for _, item := range msg.items {
		if known := s.item(item.n); known.outcome == "" {
			began := known.began
			*known = item
			if item.began.IsZero() {
				known.began = began
			}
		}
	}
	s.at = len(s.items) - 1
	s.sum(m)
}

// item returns the row of an iteration, a new one if it has none.
func (s *side) item(n int) *iteration {
	at, ok := slices.BinarySearchFunc(s.items, n, func(i iteration, n int) int { return i.n - n })
	if !ok {
		s.items = slices.Insert(s.items, at, iteration{n: n})
		if s.at >= at && len(s.items) > 1 {
			s.at++
		}
	}
	return &s.items[at]
}

// note takes in an entry.
func (s *side) note(m *model, e transcript.Entry) {
	switch b := e.Body.(type) {
	case transcript.Iteration:
		s.item(b.N).began = e.At
	case transcript.IterationEnd:
		item := s.item(b.N)
		item.outcome, item.took, item.usd = b.Outcome, time.Duration(b.Took)*time.Millisecond, b.Usage.USD
		if item.hurt == "" && b.Progress == event.ProgressNo {
			item.hurt = hurtStuck
		}
		s.sum(m)
	case transcript.Guardrail:
		if b.State == transcript.StateFailed && e.Iteration > 0 {
			s.item(e.Iteration).hurt = hurtFailing
		}
	case transcript.Claim:
		if b.State == transcript.ClaimRefused && e.Iteration > 0 && s.item(e.Iteration).hurt == "" {
			s.item(e.Iteration).hurt = hurtRefused
		}
	case transcript.Commit:
		if e.Iteration > 0 && b.SHA != "" {
			s.item(e.Iteration).commit = b.SHA
		}
	}
}

// sum adds up how long the iterations took that have ended.
func (s *side) sum(m *model) {
	m.active = 0
	for _, item := range s.items {
		if m.progress == nil || item.n < m.progress.iteration || item.n == m.progress.iteration && !m.view.Open { // a replay has not come to the others
			m.active += item.took
		}
	}
}

// began is when an iteration began, zero if that is not known or it has ended.
func (s *side) began(n int) time.Time {
	at, ok := slices.BinarySearchFunc(s.items, n, func(i iteration, n int) int { return i.n - n })
	if !ok || s.items[at].outcome != "" {
		return time.Time{}
	}
	return s.items[at].began
}

// width is how many columns the list takes beside the conversation.
func (s *side) width(m *model) int {
	if !s.shown || s.covers(m) {
		return 0
	}
	return sideColumns
}

// covers reports whether the list is shown instead of the conversation.
func (s *side) covers(m *model) bool { return s.shown && m.columns < sideNarrow }

func (m *model) toggleSide() tea.Cmd {
	m.side.shown = !m.side.shown
	switch {
	case m.side.shown:
		m.focus = listing
		if m.side.at < 0 || m.side.at >= len(m.side.items) {
			m.side.at = len(m.side.items) - 1
		}
	case m.focus == listing:
		m.read()
	}
	return nil
}

func (s *side) key(m *model, k tea.KeyPressMsg) tea.Cmd {
	switch k.Keystroke() {
	case "up", "k":
		s.at--
	case "down", "j":
		s.at++
	case "pgup":
		s.at -= 10
	case "pgdown":
		s.at += 10
	case "home", "g":
		s.at = 0
	case "end", "shift+g":
		s.at = len(s.items)
	case "esc", "l", "ctrl+t", "q":
		return m.toggleSide()
	case "tab", "i":
		m.typeAgain()
	case "d":
		return m.showDiff()
	case "?":
		m.overlay = m.manual()
	case "enter":
		return s.enter(m)
	}
	s.at = max(min(s.at, len(s.items)-1), 0)
	return nil
}

// enter shows the chosen iteration.
func (s *side) enter(m *model) tea.Cmd {
	if s.at < 0 || s.at >= len(s.items) {
		return nil
	}
	n := s.items[s.at].n
	if s.covers(m) {
		s.shown = false
	}
	m.read()
	if m.player != nil {
		m.toEnd()
		m.player.order(func(p *player) { p.toIteration(n) })
		return nil
	}
	begins := func(e transcript.Entry) bool {
		b, ok := e.Body.(transcript.Iteration)
		return ok && b.N == n
	}
	if at := slices.IndexFunc(m.recent, begins); at >= 0 && m.win.live && m.conv.JumpTo(m.recent[at].Seq) {
		return nil
	}
	dir := m.o.Dir
	return m.visitFrom(func() (uint64, error) {
		seq, err := beginningOf(dir, n)
		return uint64(seq), err
	})
}

// beginningOf returns the first event of the segment that an iteration begins in.
func beginningOf(dir string, n int) (event.Seq, error) {
	segments, err := journal.Segments(dir)
	if err != nil {
		return 0, err
	}
	at := slices.IndexFunc(segments, func(s journal.SegmentInfo) bool { return s.Iteration == n })
	if at < 0 {
		return 0, fmt.Errorf("the journal no longer has iteration %d", n)
	}
	seq, err := firstIn(dir, segments[at])
	if seq == 0 && err == nil {
		err = errors.New("the segment of this iteration is empty")
	}
	return seq, err
}

// visitMsg has a page that is to be shown from its beginning.
type visitMsg struct {
	page transcript.Page
	err  error
}

// visitFrom shows the page that begins with an event; 0 is the first of the journal.
func (m *model) visitFrom(find func() (uint64, error)) tea.Cmd {
	dir, limit, o := m.o.Dir, m.limit(), m.pageOptions()
	return func() tea.Msg {
		seq, err := find()
		if err != nil {
			return visitMsg{err: err}
		}
		page, err := readUpTo(dir, event.Seq(seq), limit, pageEvents, o)
		return visitMsg{page, err}
	}
}

func (m *model) visited(msg visitMsg) tea.Cmd {
	switch {
	case msg.err != nil:
		m.say(toneFailure, msg.err.Error())
	case len(msg.page.Entries) > 0:
		m.visit(msg.page, msg.page.Entries[0].Seq)
	}
	return m.more()
}

// lines draws the list.
func (s *side) lines(m *model, columns, rows int) []string {
	t := m.theme
	lines := []string{t.Bold.Render(render.Cut("Iterations", columns))}
	room := max(rows-1, 1)
	first := max(min(s.at-room/2, len(s.items)-room), 0)
	for i := first; i < min(first+room, len(s.items)); i++ {
		item := s.items[i]
		outcome, style := string(item.outcome), t.Good
		switch item.outcome {
		case "":
			outcome, style = "running", t.Accent
			if m.over {
				outcome = "open"
			}
		case event.OutcomeDone:
			if item.hurt != "" {
				outcome, style = item.hurt, t.Warning
			}
		default:
			style = t.Failure
		}
		parts := []string{fmt.Sprintf("%4d", item.n), padded(render.Clean(outcome), 8)}
		if item.took > 0 {
			parts = append(parts, padded(units.Span(item.took), 6))
		}
		if item.usd != nil {
			parts = append(parts, units.Cost(item.usd))
		}
		if item.commit != "" {
			parts = append(parts, "commit")
		}
		text := render.Cut(strings.Join(parts, " "), columns)
		if i == s.at && m.focus == listing {
			lines = append(lines, t.Selected.Render(padded(text, columns)))
			continue
		}
		lines = append(lines, style.Render(text))
	}
	return lines
}
