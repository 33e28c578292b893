// Package terminaltest is a terminal for tests.
package terminaltest

import (
	"fmt"
	"image/color"
	"slices"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/parser"
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
// Its parser, cells and styles are those of the library that draws ralph's screens. The emulator
// that is built on them, charmbracelet/x/vt, does not fit: it loses a wide character at the edge
// and a combining one that arrives alone, and counts columns in one of the two ways only.
//
// Its methods are called from one goroutine.
type Emulator struct {
	Options
	Modes  map[string]bool // those that were set or reset, such as "?1049" and "4"
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

	parser           *ansi.Parser
	screen, other    *uv.Buffer // the shown screen, and the hidden one of main and alternate
	saved            struct{ Row, Col int }
	top, bottom      int // the scroll region, inclusive
	style            uv.Style
	link             string
	wraps            bool   // the last column is written, and the next character goes to the next row
	last             string // the last character, which a combining one joins
	lastRow, lastCol int
	keyboard         []int
	marked           bool
}

// NewEmulator returns an empty terminal.
func NewEmulator(o Options) *Emulator {
	e := &Emulator{Options: o, Modes: map[string]bool{"?25": true, "?7": true}, Seen: map[string]int{}, parser: ansi.NewParser()}
	e.screen, e.other = uv.NewBuffer(o.Columns, o.Rows), uv.NewBuffer(o.Columns, o.Rows)
	e.bottom = o.Rows - 1
	e.parser.SetDataSize(0) // no limit
	e.handle()
	return e
}

// Write shows what a program writes. A sequence may be divided over several writes.
func (e *Emulator) Write(p []byte) (int, error) {
	for _, b := range p {
		written := []byte{b}
		switch e.parser.State() {
		case parser.OscStringState, parser.DcsStringState, parser.ApcStringState, parser.PmStringState, parser.SosStringState:
			if b >= 0x80 || b == '%' { // the parser takes the second byte of ✓ for the end of a string
				written = fmt.Appendf(nil, "%%%02x", b)
			}
		}
		for _, b := range written {
			e.parser.Advance(b)
		}
	}
	return len(p), nil
}

// Alternate reports whether the alternate screen is shown.
func (e *Emulator) Alternate() bool { return e.Modes["?1049"] }

// Resize changes the size. Text is cut, as on the alternate screen of a terminal, not wrapped.
func (e *Emulator) Resize(columns, rows int) {
	for _, b := range []*uv.Buffer{e.screen, e.other} {
		b.Resize(columns, rows)
		for _, line := range b.Lines {
			if line[columns-1].Width > 1 {
				line[columns-1].Empty()
			}
		}
	}
	e.Columns, e.Rows, e.top, e.bottom, e.wraps = columns, rows, 0, rows-1, false
	e.Cursor.Row, e.Cursor.Col = min(e.Cursor.Row, rows-1), min(e.Cursor.Col, columns-1)
}

// Lines is the text of each row, without blanks at its end.
func (e *Emulator) Lines() []string {
	lines := make([]string, e.Rows)
	for i, row := range e.screen.Lines {
		var line strings.Builder
		for col := range row {
			line.WriteString(row[col].Content)
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
	for _, row := range e.screen.Lines {
		end := len(row)
		for end > 0 && row[end-1].Content == " " && !fills(row[end-1].Style) {
			end--
		}
		now := ""
		for _, c := range row[:end] {
			if c.Width == 0 {
				continue // the second column of the one before
			}
			if look := describe(c); look != now {
				now = look
				fmt.Fprintf(&out, "⟦%s⟧", now)
			}
			out.WriteString(c.Content)
		}
		if now != "" {
			out.WriteString("⟦⟧")
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// Colours lists the colours on the screen, sorted.
func (e *Emulator) Colours() []string {
	var colours []string
	for _, row := range e.screen.Lines {
		for _, c := range row {
			for _, colour := range []string{named(c.Style.Fg), named(c.Style.Bg)} {
				if colour != "" && !slices.Contains(colours, colour) {
					colours = append(colours, colour)
				}
			}
		}
	}
	slices.Sort(colours)
	return colours
}

// fills reports whether a blank in this style is visible.
func fills(s uv.Style) bool {
	return s.Bg != nil || s.Underline != uv.UnderlineNone || s.Attrs&(uv.AttrReverse|uv.AttrStrikethrough) != 0
}

// The names of attributes, by their bit, and of underlines.
var (
	attributes = []string{"bold", "faint", "italic", "blink", "blink", "reverse", "hidden", "strike"}
	underlines = []string{"", "underline", "underline=double", "underline=curly", "underline=dotted", "underline=dashed"}
)

// describe says how a character looks, such as "bold fg=1".
func describe(c uv.Cell) string {
	if c.Style == (uv.Style{}) && c.Link.URL == "" {
		return ""
	}
	var words []string
	for bit, name := range attributes {
		if c.Style.Attrs&(1<<bit) != 0 {
			words = append(words, name)
		}
	}
	if c.Style.Underline != uv.UnderlineNone {
		words = append(words, underlines[c.Style.Underline])
	}
	for _, of := range []struct{ what, value string }{
		{"fg", named(c.Style.Fg)}, {"bg", named(c.Style.Bg)}, {"line", named(c.Style.UnderlineColor)}, {"link", c.Link.URL},
	} {
		if of.value != "" {
			words = append(words, of.what+"="+of.value)
		}
	}
	return strings.Join(words, " ")
}

// named is the number of a colour, or its parts as "#a0b0c0".
func named(c color.Color) string {
	switch c := c.(type) {
	case nil:
		return ""
	case ansi.BasicColor, ansi.IndexedColor:
		return fmt.Sprintf("%d", c)
	default:
		r, g, b, _ := c.RGBA()
		return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
	}
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
	text := string(r)
	if r >= 0x80 && e.joins(text, method) {
		return
	}
	width := 1
	if r >= 0x80 {
		width = method.StringWidth(text)
	}
	if width > 0 { // or nothing is before it
		e.write(text, width)
	}
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
	cell := *e.screen.CellAt(e.lastCol, e.lastRow)
	cell.Content, e.last = joined, joined
	if width == 2 && cell.Width == 1 && e.lastCol+1 < e.Columns {
		cell.Width = 2
		e.Cursor.Col = min(e.Cursor.Col+1, e.Columns-1)
		e.wraps = e.lastCol+2 == e.Columns
	}
	e.set(e.lastCol, e.lastRow, cell)
	return true
}

// set writes a cell. What is half covered becomes blank, which the library does at one side only.
func (e *Emulator) set(col, row int, cell uv.Cell) {
	if cell.Width == 2 {
		e.screen.SetCell(col+1, row, e.blank())
	}
	e.screen.SetCell(col, row, &cell)
}

func (e *Emulator) write(text string, width int) {
	if (e.wraps || e.Cursor.Col+width > e.Columns) && e.Modes["?7"] {
		e.Cursor.Col = 0
		e.lineFeed()
	}
	if e.Modes["4"] {
		e.shift(width)
	}
	at := min(e.Cursor.Col, e.Columns-width)
	e.set(at, e.Cursor.Row, uv.Cell{Content: text, Width: width, Style: e.style, Link: uv.Link{URL: e.link}})
	e.last, e.lastRow, e.lastCol = text, e.Cursor.Row, at
	if e.Cursor.Col = at + width; e.Cursor.Col == e.Columns {
		e.Cursor.Col, e.wraps = e.Columns-1, true
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
	region := uv.Rect(0, from, e.Columns, e.bottom+1-from)
	if n > 0 && from == 0 && !e.Alternate() {
		e.Scrollback = append(e.Scrollback, e.Lines()[:min(n, region.Dy())]...)
	}
	e.screen.DeleteLineArea(from, n, e.blank(), region)
	e.screen.InsertLineArea(from, -n, e.blank(), region)
}

// shift moves the cells from the cursor on by n columns, or to the left if negative.
func (e *Emulator) shift(n int) {
	row := e.screen.Lines[e.Cursor.Row]
	if row[e.Cursor.Col].Width == 0 {
		row.Set(e.Cursor.Col, e.blank()) // half of a wide one
	}
	row = row[e.Cursor.Col:]
	erased := row[:min(max(n, 0), len(row))]
	if n < 0 {
		n = max(n, -len(row))
		copy(row, row[-n:])
		erased = row[len(row)+n:]
	} else {
		copy(row[len(erased):], row)
	}
	for i := range erased {
		erased[i] = *e.blank()
	}
	if row[0].Width == 0 {
		row[0] = *e.blank()
	}
	if last := &row[len(row)-1]; last.Width > 1 {
		*last = *e.blank()
	}
}

// blank is an erased cell: it has the background of the moment.
func (e *Emulator) blank() *uv.Cell {
	return &uv.Cell{Content: " ", Width: 1, Style: uv.Style{Bg: e.style.Bg}}
}
