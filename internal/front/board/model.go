package board

import (
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/front/display"
	"github.com/ralph-loop/ralph/internal/front/listing"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/terminal"
)

// Model is what the screen shows and what the keys do. It reads no file, no clock and no terminal:
// the same snapshots, keys and sizes give the same screens and effects. It belongs to one
// goroutine.
type Model struct {
	Theme         terminal.Theme
	Width, Height int    // of the terminal
	Here          bool   // only loops of this project
	Running       bool   // only loops that have a runner
	Project       string // in which a new loop begins, short

	snapshot listing.Snapshot
	loaded   bool            // there was a snapshot
	needed   map[string]bool // the entries' files of loops that need a person
	items    []item
	cells    map[int][]string // of the rows, by their loops
	columns  []column
	counts   map[projector.Group]int

	selected string // the entry's file of the chosen loop
	place    int    // of the chosen loop among the rows
	page     int    // the first line of the manual on the screen
	top      int    // the first item on the screen

	mode   mode
	input  display.Line // what is being typed
	about  string       // the entry's file of the loop that the input is about
	asked  int          // the number of the question that the input answers; 0 if it has none
	live   bool         // the loop that the input is about had a runner when the person saw it last
	filter string
	notice notice
	peeked []string // of the chosen loop, while it is peeked at
}

// mode says what the keys do.
type mode int

const (
	browsing  mode = iota
	filtering      // typing the filter
	answering      // typing an answer, or the text that a loop is resumed with
	steering       // typing a message for the agent
	stopping       // asked how a loop is stopped
	resuming       // asked whether a loop is resumed
	reading        // the manual
	beginning      // typing the task of a new loop
	peeking        // looking at the end of the chosen loop's conversation
)

// notice is the outcome of what a person asked for.
type notice struct {
	text string
	bad  bool      // it was not done
	at   time.Time // when it was said
}

// noticeLasts is how long an outcome is shown, unless a key is pressed before.
const noticeLasts = time.Minute

// item is a part of the list: the head of a group, a row, or what an empty group has.
type item struct {
	kind  itemKind
	group projector.Group
	loop  int // of a row: its place in the snapshot
}

type itemKind int

const (
	headItem itemKind = iota
	rowItem
	noneItem
	blankItem
)

// Show takes the loops as they are now, and returns those that have begun to need a person since
// the last time. The chosen loop stays chosen, wherever it is in the list.
func (m *Model) Show(s listing.Snapshot) (calling []*listing.Loop) {
	needed := map[string]bool{}
	listing.SortLoops(s.Loops)
	for i := range s.Loops {
		if l := &s.Loops[i]; l.Group == projector.NeedsYou {
			needed[l.Found.File] = true
			if m.loaded && !m.needed[l.Found.File] && l.Status != event.StatusPaused { // a person paused it
				calling = append(calling, l)
			}
		}
	}
	m.snapshot, m.loaded, m.needed = s, true, needed
	if s.At.Sub(m.notice.at) >= noticeLasts {
		m.notice = notice{}
	}
	m.arrange()
	return calling
}

// callOf says in one line why a loop needs a person.
func callOf(l *listing.Loop) string {
	switch {
	case l.Question != "":
		return render.Clean(l.Question)
	case questionOf(l) > 0:
		return render.Clean(l.Facts.Text)
	case l.Died:
		return "its runner died"
	case l.Reason != "":
		end, why := endOf(l)
		return strings.TrimSpace(end + " " + why)
	}
	return stateOf(l, l.At)
}

// questionOf is the number of the question that an answer to a loop is for; 0 if there is none.
func questionOf(l *listing.Loop) int {
	switch {
	case l.Awaited > 0:
		return l.Awaited
	case l.Facts == nil || l.WaitsForPerson():
		return 0
	}
	return l.Facts.Asked.Number
}

// textOf is the question of a loop's agent as far as it was read.
func textOf(l *listing.Loop) string {
	if l.Facts == nil || l.Facts.Asked.Number == 0 {
		return ""
	}
	return l.Facts.Text
}

// Say shows the outcome of an effect.
func (m *Model) Say(text string, bad bool) { m.notice = notice{text, bad, m.snapshot.At} }

// Resize takes the size of the terminal.
func (m *Model) Resize(width, height int) {
	m.Width, m.Height = width, height
	m.arrange()
}

// arrange makes the list from the loops and the filters.
func (m *Model) arrange() {
	m.items, m.counts, m.cells = m.items[:0], map[projector.Group]int{}, map[int][]string{}
	next := 0
	for _, group := range projector.Groups {
		rows := 0
		m.items = append(m.items, item{kind: headItem, group: group})
		for ; next < len(m.snapshot.Loops) && m.snapshot.Loops[next].Listed == group; next++ {
			if m.matches(&m.snapshot.Loops[next]) {
				m.items = append(m.items, item{rowItem, group, next})
				m.cells[next] = m.cellsOf(&m.snapshot.Loops[next])
				if rows++; group != projector.NeedsYou || m.snapshot.Loops[next].Group == group {
					m.counts[group]++ // not the others of a fleet that needs a person
				}
			}
		}
		if rows == 0 {
			m.items = append(m.items, item{kind: noneItem, group: group})
		}
		m.items = append(m.items, item{kind: blankItem, group: group})
	}
	m.columns = m.fit()
	m.keepSelection()
	m.scroll()
}

// matches reports whether a loop is shown.
func (m *Model) matches(l *listing.Loop) bool {
	if m.Here && !l.Here || m.Running && !l.Alive {
		return false
	}
	text := strings.ToLower(strings.Join([]string{l.Call, l.Path, l.Agent, string(l.Group), stateOf(l, m.snapshot.At), l.Question, textOf(l)}, "\n"))
	for word := range strings.FieldsSeq(strings.ToLower(m.filter)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// rows are the places of the rows among the items.
func (m *Model) rows() []int {
	var rows []int
	for i := range m.items {
		if m.items[i].kind == rowItem {
			rows = append(rows, i)
		}
	}
	return rows
}

// keepSelection chooses another loop if the chosen one is not shown any more: the one that is at
// its place.
func (m *Model) keepSelection() {
	rows := m.rows()
	if len(rows) == 0 {
		return // it may come back
	}
	if at := slices.IndexFunc(rows, func(i int) bool { return m.fileOf(i) == m.selected }); at >= 0 {
		m.place = at
		return
	}
	m.place = min(m.place, len(rows)-1)
	m.selected = m.fileOf(rows[m.place])
}

func (m *Model) fileOf(i int) string { return m.snapshot.Loops[m.items[i].loop].Found.File }

// chosen is the chosen loop, or nil if none is shown.
func (m *Model) chosen() *listing.Loop { return m.shownLoop(m.selected) }

// shownLoop is the loop of an entry's file, or nil if it is not shown.
func (m *Model) shownLoop(file string) *listing.Loop {
	for _, it := range m.items {
		if it.kind == rowItem && m.snapshot.Loops[it.loop].Found.File == file {
			return &m.snapshot.Loops[it.loop]
		}
	}
	return nil
}

// loopOf is the loop of an entry's file, also if no filter lets it be shown; nil if it is gone.
func (m *Model) loopOf(file string) *listing.Loop {
	for i := range m.snapshot.Loops {
		if m.snapshot.Loops[i].Found.File == file {
			return &m.snapshot.Loops[i]
		}
	}
	return nil
}

// move chooses the loop so many rows further.
func (m *Model) move(by int) {
	rows := m.rows()
	if len(rows) == 0 {
		return
	}
	m.place = min(max(m.place+by, 0), len(rows)-1)
	m.selected = m.fileOf(rows[m.place])
	m.scroll()
}

// scroll moves the list so that the chosen loop is on the screen, with the head of its group if it
// is the first there.
func (m *Model) scroll() {
	m.top = min(m.top, max(len(m.items)-1, 0))
	at := slices.IndexFunc(m.items, func(it item) bool {
		return it.kind == rowItem && m.snapshot.Loops[it.loop].Found.File == m.selected
	})
	if at < 0 {
		m.top = 0
		return
	}
	first := at
	if first > 0 && m.items[first-1].kind == headItem {
		first--
	}
	if first == 0 || m.top > first {
		m.top = min(m.top, first)
	}
	// The last items that fit above the chosen one, which is always shown from its first line.
	left, lowest := m.bodyHeight()-len(m.itemLines(at)), at
	for lowest > 0 {
		left -= len(m.itemLines(lowest - 1))
		if left < 0 {
			break
		}
		lowest--
	}
	m.top = max(m.top, lowest)
	if end := m.lastTop(); m.top > end {
		m.top = end
	}
}

// lastTop is the first item on the screen if the last one is on it.
func (m *Model) lastTop() int {
	left, top := m.bodyHeight(), len(m.items)
	for top > 0 {
		left -= len(m.itemLines(top - 1))
		if left < 0 {
			break
		}
		top--
	}
	return top
}

// Visible returns the entries' files of the loops on the screen whose facts are shown.
func (m *Model) Visible() []string {
	var files []string
	left := m.bodyHeight()
	for i := m.top; i < len(m.items) && left > 0; i++ {
		left -= len(m.itemLines(i))
		if it := m.items[i]; it.kind == rowItem && (m.snapshot.Loops[it.loop].Group != projector.Over || m.fileOf(i) == m.selected) {
			files = append(files, m.fileOf(i))
		}
	}
	if m.about != "" && !slices.Contains(files, m.about) {
		files = append(files, m.about)
	}
	return files
}

// Lacking reports whether a loop on the screen has no facts yet.
func (m *Model) Lacking() bool {
	return slices.ContainsFunc(m.Visible(), func(file string) bool {
		l := m.loopOf(file)
		return l != nil && l.Facts == nil
	})
}

// nameOf is what a loop is called on the screen.
func nameOf(l *listing.Loop) string { return render.Clean(l.Call) }
