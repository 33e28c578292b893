package tui

import (
	"time"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/terminal"
	"github.com/ralph-loop/ralph/render/transcript"
)

// Conversation shows a window of a loop's entries in a part of the screen. It is called from one
// goroutine, and does no I/O. One entry may be selected.
type Conversation interface {
	// Resize sets the columns and rows of the part of the screen.
	Resize(columns, rows int)
	SetTheme(theme terminal.Theme)

	// Put appends entries. One with the number of an entry that is there replaces it. A view that
	// is at the end stays at the end; otherwise what is shown does not move.
	Put(entries []transcript.Entry)
	// Prepend adds entries before all others; what is shown does not move.
	Prepend(entries []transcript.Entry)
	// Replace removes all entries and shows the end of these.
	Replace(entries []transcript.Entry)
	// Trim removes the oldest entries, except the last n; TrimEnd the newest, except the first n.
	Trim(n int)
	TrimEnd(n int)
	// Len is the number of entries, First and Last are the numbers of the oldest and of the newest
	// one, 0 without entries.
	Len() int
	First() event.Seq
	Last() event.Seq

	// Lines returns what is shown, at most so many lines as there are rows, none of them wider than
	// the columns. now is for durations of what runs.
	Lines(now time.Time) []string

	// Scroll moves the view by so many lines, up if negative.
	Scroll(lines int)
	ToStart()
	ToEnd()
	AtStart() bool // the first line is shown
	AtEnd() bool   // the last line is shown, and will be

	// Select moves the selection by so many entries, up if negative, and shows it. Without a
	// selection, a step of one selects an entry that is shown.
	Select(by int)
	// Reselect moves a selection that is not shown any more to the nearest entry that is.
	Reselect()
	// Deselect removes the selection.
	Deselect()
	// Selected returns the selected entry.
	Selected() (transcript.Entry, bool)
	// SelectedText is the text of the selected entry as it would be copied, without styles.
	SelectedText() string
	// Toggle folds or unfolds the selected entry, ToggleAll all of them.
	Toggle()
	ToggleAll()

	// Find selects and shows the next entry, or the one before, that matches. It begins after the
	// selection, or at the end of what is shown, and reports whether there is one.
	Find(forward bool, match func(transcript.Entry) bool) bool
	// JumpTo selects and shows an entry at the top, and reports whether it is there.
	JumpTo(seq event.Seq) bool
	// Highlight marks a text wherever it is shown, in any case of letters; empty marks nothing.
	Highlight(text string)
}
