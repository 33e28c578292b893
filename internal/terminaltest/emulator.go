package terminaltest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Options say what a terminal can do and how it looks.
type Options struct {
	Columns, Rows int
	// Marks: it supports synchronized output (mode 2026), and says so.
	Marks bool
	// Clusters: it counts the columns of composed characters as one (mode 2027), and says so.
	Clusters bool
	// Light: its background is light, which it answers if asked.
	Light bool
	// Silent: it answers nothing.
	Silent bool
	// Reply takes what the terminal answers; nil drops it.
	Reply func(answer string)
}

// An Emulator is a terminal as xterm is one: a screen of fixed size, the alternate screen, a
// scroll region, modes, styles, and answers to queries. It also counts what a person would notice:
// full clears, and changes of the screen outside of a frame's marks.
//
// Its methods are called from one goroutine.
type Emulator struct {
	Options
	Modes  map[string]bool // those that were set or reset, such as "?1049" and "4"
	Title  string
	Cursor struct{ Row, Col int }
	// Seen counts each kind of sequence: its introducer, the final byte and the intermediate ones,
	// for OSC the number, for modes the mode: "CSI m", "CSI ?2026h", "OSC 52", "ESC 7", "C0 \a".
	Seen map[string]int
	// Commands is what OSC, DCS and the other strings contained.
	Commands []string
	// Clears counts how often a screen that was not blank became blank at once.
	Clears int
	// Frames counts the ends of frames, Unmarked the changes of the screen outside of one.
	Frames, Unmarked int

	// Scrollback is the text that left the main screen at its top.
	Scrollback []string

	rows, other      [][]cell // the shown screen, and the hidden one of main and alternate
	saved            struct{ row, col int }
	top, bottom      int // the scroll region, inclusive
	style            style
	wraps            bool   // the last column is written, and the next character goes to the next row
	last             string // the last character, which a combining one joins
	lastRow, lastCol int
	kitty            []int
	pending          []byte // the beginning of a sequence that is not complete
	titles           []string
	marked           bool
}

type cell struct {
	text  string // empty is blank
	style style
	wide  bool // takes two columns
	half  bool // the second column of a wide one
}

// NewEmulator returns an empty terminal.
func NewEmulator(o Options) *Emulator {
	e := &Emulator{Options: o, Modes: map[string]bool{"?25": true, "?7": true}, Seen: map[string]int{}}
	e.rows, e.other = blank(o.Columns, o.Rows), blank(o.Columns, o.Rows)
	e.bottom = o.Rows - 1
	return e
}

func blank(columns, rows int) [][]cell {
	all := make([][]cell, rows)
	for i := range all {
		all[i] = make([]cell, columns)
	}
	return all
}

// Alternate reports whether the alternate screen is shown.
func (e *Emulator) Alternate() bool { return e.Modes["?1049"] }

// Resize changes the size. Text is cut, as on the alternate screen of a terminal, not wrapped.
func (e *Emulator) Resize(columns, rows int) {
	fit := func(old [][]cell) [][]cell {
		fitted := blank(columns, rows)
		for i := range min(rows, len(old)) {
			copy(fitted[i], old[i])
			if last := &fitted[i][columns-1]; last.wide {
				*last = cell{}
			}
		}
		return fitted
	}
	e.rows, e.other = fit(e.rows), fit(e.other)
	e.Columns, e.Rows, e.top, e.bottom, e.wraps = columns, rows, 0, rows-1, false
	e.Cursor.Row, e.Cursor.Col = min(e.Cursor.Row, rows-1), min(e.Cursor.Col, columns-1)
}

// Lines is the text of each row, without blanks at its end.
func (e *Emulator) Lines() []string {
	lines := make([]string, len(e.rows))
	for i, row := range e.rows {
		var line strings.Builder
		for _, c := range row {
			switch {
			case c.half:
			case c.text == "":
				line.WriteByte(' ')
			default:
				line.WriteString(c.text)
			}
		}
		lines[i] = strings.TrimRight(line.String(), " ")
	}
	return lines
}

// Text is the text on the screen.
func (e *Emulator) Text() string { return strings.Join(e.Lines(), "\n") }

// Styled is the text with a mark where the style changes, such as ⟦bold fg=1⟧. It is what golden
// files of a screen contain.
func (e *Emulator) Styled() string {
	var out strings.Builder
	for _, row := range e.rows {
		end := len(row)
		for end > 0 && (row[end-1].text == "" || row[end-1].text == " ") && !row[end-1].style.fills() {
			end--
		}
		var now style
		for _, c := range row[:end] {
			if c.half {
				continue
			}
			if c.style != now {
				now = c.style
				fmt.Fprintf(&out, "⟦%s⟧", now)
			}
			if c.text == "" {
				out.WriteByte(' ')
			} else {
				out.WriteString(c.text)
			}
		}
		if now != (style{}) {
			out.WriteString("⟦⟧")
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// Colours lists the colours on the screen, sorted.
func (e *Emulator) Colours() []string {
	var colours []string
	for _, row := range e.rows {
		for _, c := range row {
			for _, colour := range []string{c.style.fg, c.style.bg} {
				if colour != "" && !slices.Contains(colours, colour) {
					colours = append(colours, colour)
				}
			}
		}
	}
	slices.Sort(colours)
	return colours
}

// changes notes that the screen changes now.
func (e *Emulator) changes() {
	if e.marked && e.Alternate() && !e.Modes["?2026"] {
		e.Unmarked++
	}
}

// put writes a character at the cursor, or adds it to the one before.
func (e *Emulator) put(r rune) {
	e.changes()
	method := ansi.WcWidth
	if e.Modes["?2027"] {
		method = ansi.GraphemeWidth
	}
	if r >= 0x80 && e.joins(string(r), method) {
		return
	}
	text := string(r)
	width := 1
	if r >= 0x80 {
		width = method.StringWidth(text)
	}
	if width == 0 {
		return // nothing is before it
	}
	e.write(text, width)
}

// joins adds a combining character to the one that was written last.
func (e *Emulator) joins(text string, method ansi.Method) bool {
	if e.last == "" {
		return false
	}
	joined := e.last + text
	cluster, width := ansi.FirstGraphemeCluster(joined, method)
	if method == ansi.WcWidth && method.StringWidth(text) > 0 || len(cluster) != len(joined) {
		return false
	}
	before := &e.rows[e.lastRow][e.lastCol]
	before.text, e.last = joined, joined
	if width == 2 && !before.wide && e.lastCol+1 < e.Columns {
		before.wide = true
		e.rows[e.lastRow][e.lastCol+1] = cell{style: before.style, half: true}
		e.Cursor.Col = min(e.Cursor.Col+1, e.Columns-1)
		e.wraps = e.lastCol+2 == e.Columns
	}
	return true
}

func (e *Emulator) write(text string, width int) {
	if (e.wraps || e.Cursor.Col+width > e.Columns) && e.Modes["?7"] {
		e.Cursor.Col = 0
		e.lineFeed()
	}
	if e.Modes["4"] {
		e.insert(width)
	}
	at := min(e.Cursor.Col, e.Columns-width)
	row := e.rows[e.Cursor.Row]
	for i := at; i < at+width; i++ {
		e.split(row, i)
	}
	row[at] = cell{text: text, style: e.style, wide: width == 2}
	if width == 2 {
		row[at+1] = cell{style: e.style, half: true}
	}
	e.last, e.lastRow, e.lastCol = text, e.Cursor.Row, at
	if e.Cursor.Col = at + width; e.Cursor.Col == e.Columns {
		e.Cursor.Col, e.wraps = e.Columns-1, true
	}
}

// split blanks the other half of a wide character, of which one half is written.
func (e *Emulator) split(row []cell, at int) {
	switch {
	case row[at].half && at > 0:
		row[at-1] = cell{style: row[at-1].style}
	case row[at].wide && at+1 < len(row):
		row[at+1] = cell{style: row[at].style}
	}
}

func (e *Emulator) lineFeed() {
	e.wraps, e.last = false, ""
	switch {
	case e.Cursor.Row == e.bottom:
		e.scroll(e.top, 1)
	case e.Cursor.Row < e.Rows-1:
		e.Cursor.Row++
	}
}

// scroll moves the rows from one on to the end of the region up by n, or down if negative.
func (e *Emulator) scroll(from, n int) {
	e.changes()
	region := e.rows[from : e.bottom+1]
	n = max(min(n, len(region)), -len(region))
	if n > 0 {
		if from == 0 && !e.Alternate() {
			e.Scrollback = append(e.Scrollback, e.Lines()[:n]...)
		}
		copy(region, region[n:])
		for i := len(region) - n; i < len(region); i++ {
			region[i] = e.empty()
		}
		return
	}
	copy(region[-n:], region)
	for i := range -n {
		region[i] = e.empty()
	}
}

func (e *Emulator) empty() []cell {
	row := make([]cell, e.Columns)
	e.erase(row)
	return row
}

// erase blanks cells in the background of the moment.
func (e *Emulator) erase(cells []cell) {
	for i := range cells {
		cells[i] = cell{style: style{bg: e.style.bg}}
	}
}

func (e *Emulator) insert(n int) {
	row := e.rows[e.Cursor.Row][e.Cursor.Col:]
	n = min(n, len(row))
	copy(row[n:], row)
	e.erase(row[:n])
}

func (e *Emulator) isBlank() bool {
	for _, row := range e.rows {
		for _, c := range row {
			if c.text != "" && c.text != " " {
				return false
			}
		}
	}
	return true
}
