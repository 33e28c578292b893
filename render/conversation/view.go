package conversation

import (
	"slices"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/theme"
	"github.com/ralph-loop/ralph/render/transcript"
)

// View is a window of a loop's entries. It belongs to one goroutine.
type View struct {
	columns, rows int
	theme         theme.Theme
	mark          string // what Highlight marks, in lower case
	unfolded      bool   // what was not folded by itself is unfolded

	items    []*item // by number
	laid     int     // how many of them have lines, at most
	selected event.Seq

	follow bool
	top    place // of the first line, unless the view follows the end
	now    time.Time
}

// A place is a line of an item.
type place struct {
	item int // index
	line int
}

// New returns an empty view of 80 columns and 24 rows.
func New() *View { return &View{columns: 80, rows: 24, follow: true} }

// Resize sets the columns and rows of the part of the screen.
func (v *View) Resize(columns, rows int) { v.columns, v.rows = max(columns, 1), max(rows, 0) }

// SetTheme sets how things look.
func (v *View) SetTheme(t theme.Theme) { v.theme = t }

// index returns where an entry is, or where it would be.
func (v *View) index(seq event.Seq) (int, bool) {
	if n := len(v.items); n == 0 || v.items[n-1].Seq < seq {
		return n, false
	}
	return slices.BinarySearchFunc(v.items, seq, func(it *item, seq event.Seq) int {
		switch {
		case it.Seq < seq:
			return -1
		case it.Seq > seq:
			return 1
		}
		return 0
	})
}

// Put adds entries. One with the number of an entry that is there replaces it. A view that is at
// the end stays at the end; otherwise what is shown does not move.
func (v *View) Put(entries []transcript.Entry) {
	for _, e := range entries {
		at, found := v.index(e.Seq)
		if found {
			v.items[at].set(e)
			continue
		}
		v.items = slices.Insert(v.items, at, &item{Entry: e})
		if at <= v.top.item && len(v.items) > 1 && !v.follow {
			v.top.item++
		}
	}
}

// Prepend adds entries before all others; what is shown does not move.
func (v *View) Prepend(entries []transcript.Entry) {
	first := v.First()
	var items []*item
	for _, e := range entries {
		if first == 0 || e.Seq < first {
			items = append(items, &item{Entry: e})
		}
	}
	v.items = append(items, v.items...)
	v.top.item += len(items)
}

// Replace removes all entries and shows the end of these.
func (v *View) Replace(entries []transcript.Entry) {
	v.items, v.laid, v.top, v.follow, v.selected = nil, 0, place{}, true, 0
	v.Put(entries)
}

// Trim removes the oldest entries, except the last n.
func (v *View) Trim(n int) {
	cut := len(v.items) - max(n, 0)
	if cut <= 0 {
		return
	}
	v.items = slices.Clone(v.items[cut:])
	if v.top.item -= cut; v.top.item < 0 {
		v.top = place{}
	}
	if v.selected < v.First() {
		v.selected = 0
	}
}

// TrimEnd removes the newest entries, except the first n. A view that followed the end no longer
// does.
func (v *View) TrimEnd(n int) {
	if n = max(n, 0); n >= len(v.items) {
		return
	}
	v.settle()
	clear(v.items[n:])
	v.items = v.items[:n]
	if v.top.item >= n {
		v.top = place{}
		v.follow = true
	}
	if v.selected > v.Last() {
		v.selected = 0
	}
}

// Len is the number of entries.
func (v *View) Len() int { return len(v.items) }

// First is the number of the oldest entry, 0 without entries.
func (v *View) First() event.Seq {
	if len(v.items) == 0 {
		return 0
	}
	return v.items[0].Seq
}

// Last is the number of the newest entry, 0 without entries.
func (v *View) Last() event.Seq {
	if len(v.items) == 0 {
		return 0
	}
	return v.items[len(v.items)-1].Seq
}
