package castsvg

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/render"
)

// secondHalf is the text of the cell to the right of a wide character.
const secondHalf = "\x00"

// cell is one character of the screen; an empty text is a blank.
type cell struct {
	text  string
	style style
}

// style is how a character looks. Colours are as CSS has them; empty is the terminal's own.
type style struct {
	front, back                            string
	bold, faint, italic, underline, invert bool
}

// screen is a terminal that supports what ralph writes. Other sequences are an error.
type screen struct {
	columns, rows int
	cells         [][]cell
	row, column   int
	wraps         bool // the last column is written, and the next character goes to the next row
	style         style
	first         [][]cell // the first screen while the alternate one is shown
	saved         [2]int   // the cursor of the first screen
}

func newScreen(columns, rows int) *screen {
	s := &screen{columns: columns, rows: rows}
	s.cells = s.blank()
	return s
}

func (s *screen) blank() [][]cell {
	cells := make([][]cell, s.rows)
	for i := range cells {
		cells[i] = make([]cell, s.columns)
	}
	return cells
}

func (s *screen) write(text string) error {
	for text != "" {
		r, n := utf8.DecodeRuneInString(text)
		var err error
		switch {
		case strings.HasPrefix(text, "\x1b["):
			end := strings.IndexFunc(text[2:], func(r rune) bool { return r >= 0x40 && r <= 0x7e })
			if end < 0 {
				return fmt.Errorf("a sequence without an end: %q", text)
			}
			n = 2 + end + 1
			err = s.control(text[2:n-1], text[n-1])
		case r == '\r':
			s.column, s.wraps = 0, false
		case r == '\n':
			s.down()
		case r < 0x20:
			err = fmt.Errorf("unknown control %q", r)
		default:
			s.put(text[:n])
		}
		if err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

func (s *screen) down() {
	s.wraps = false
	if s.row++; s.row == s.rows {
		s.row--
		s.cells = append(s.cells[1:], make([]cell, s.columns))
	}
}

func (s *screen) put(text string) {
	width := render.Columns(text)
	if width == 0 { // it belongs to the character before
		if s.column > 0 {
			s.cells[s.row][s.column-1].text += text
		}
		return
	}
	if s.wraps || s.column+width > s.columns {
		s.down()
		s.column = 0
	}
	s.cells[s.row][s.column] = cell{text, s.style}
	for i := 1; i < width; i++ {
		s.cells[s.row][s.column+i] = cell{secondHalf, s.style}
	}
	if s.column += width; s.column == s.columns {
		s.column, s.wraps = s.columns-1, true
	}
}

func (s *screen) control(argument string, final byte) error {
	if strings.HasPrefix(argument, "?") {
		return s.mode(argument[1:], final == 'h')
	}
	var numbers []int
	for part := range strings.SplitSeq(argument, ";") {
		n, err := strconv.Atoi(part)
		if err != nil && part != "" {
			return fmt.Errorf("unknown sequence %q %c", argument, final)
		}
		numbers = append(numbers, n)
	}
	n := numbers[0]
	s.wraps = s.wraps && final == 'm'
	switch final {
	case 'm':
		return s.style.set(numbers)
	case 'H':
		column := 1
		if len(numbers) > 1 {
			column = max(numbers[1], 1)
		}
		s.row, s.column = min(max(n, 1), s.rows)-1, min(column, s.columns)-1
	case 'A':
		s.row = max(s.row-max(n, 1), 0)
	case 'K':
		from, to := s.column, s.columns
		if n == 2 {
			from = 0
		}
		clear(s.cells[s.row][from:to])
	default:
		return fmt.Errorf("unknown sequence %q %c", argument, final)
	}
	return nil
}

func (s *screen) mode(name string, on bool) error {
	switch {
	case name == "25", name == "2026":
	case name == "1049" && on:
		s.first, s.saved = s.cells, [2]int{s.row, s.column}
		s.cells = s.blank()
	case name == "1049" && s.first != nil:
		s.cells, s.row, s.column = s.first, s.saved[0], s.saved[1]
		s.first = nil
	default:
		return fmt.Errorf("unknown mode %s", name)
	}
	return nil
}

// palette are the sixteen colours, for a dark background.
var palette = [16]string{
	"#484f58", "#ff7b72", "#3fb950", "#d29922", "#79b8ff", "#bc8cff", "#39c5cf", "#c9d1d9",
	"#6e7681", "#ffa198", "#56d364", "#e3b341", "#a5d6ff", "#d2a8ff", "#56d4dd", "#f0f6fc",
}

// set applies the numbers of a sequence for styles.
func (t *style) set(numbers []int) error {
	for i := 0; i < len(numbers); i++ {
		switch n := numbers[i]; {
		case n == 0:
			*t = style{}
		case n == 1:
			t.bold = true
		case n == 2:
			t.faint = true
		case n == 3:
			t.italic = true
		case n == 4:
			t.underline = true
		case n == 7:
			t.invert = true
		case n == 22:
			t.bold, t.faint = false, false
		case n == 23:
			t.italic = false
		case n == 24:
			t.underline = false
		case n == 27:
			t.invert = false
		case n >= 30 && n <= 37:
			t.front = palette[n-30]
		case n >= 90 && n <= 97:
			t.front = palette[n-90+8]
		case n >= 40 && n <= 47:
			t.back = palette[n-40]
		case n >= 100 && n <= 107:
			t.back = palette[n-100+8]
		case n == 39:
			t.front = ""
		case n == 49:
			t.back = ""
		case n == 38 || n == 48:
			colour, used, err := extended(numbers[i+1:])
			if err != nil {
				return err
			}
			if i += used; n == 38 {
				t.front = colour
			} else {
				t.back = colour
			}
		default:
			return fmt.Errorf("unknown style %d", n)
		}
	}
	return nil
}

// extended reads a colour of 256 or of all, and returns how many numbers it takes.
func extended(numbers []int) (colour string, used int, err error) {
	switch {
	case len(numbers) >= 4 && numbers[0] == 2:
		return fmt.Sprintf("#%02x%02x%02x", numbers[1]&255, numbers[2]&255, numbers[3]&255), 4, nil
	case len(numbers) < 2 || numbers[0] != 5 || numbers[1] < 0 || numbers[1] > 255:
		return "", 0, fmt.Errorf("unknown colour %v", numbers)
	}
	n := numbers[1]
	switch {
	case n < 16:
		return palette[n], 2, nil
	case n >= 232:
		grey := 8 + 10*(n-232)
		return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey), 2, nil
	}
	level := func(n int) int {
		if n == 0 {
			return 0
		}
		return 55 + 40*n
	}
	n -= 16
	return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6)), 2, nil
}
