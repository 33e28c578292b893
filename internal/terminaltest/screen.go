package terminaltest

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/render"
)

// Screen is the screen of a terminal that supports only the sequences that package attach writes.
// It has as many rows as it needs, so that nothing scrolls.
type Screen struct {
	columns  int
	rows     [][]rune
	Row, Col int
	wraps    bool // the last column is written, and the next character goes to the next row
	Modes    map[string]bool
}

// New returns an empty screen of so many columns.
func New(columns int) *Screen {
	return &Screen{columns: columns, rows: [][]rune{nil}, Modes: map[string]bool{}}
}

func (g *Screen) Write(p []byte) (int, error) {
	for s := string(p); s != ""; {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case strings.HasPrefix(s, "\x1b["):
			n = 2 + strings.IndexFunc(s[2:], func(r rune) bool { return r >= 0x40 }) + 1
			g.control(s[2:n-1], s[n-1])
		case r == '\r':
			g.Col, g.wraps = 0, false
		case r == '\n':
			g.down()
		case r < 0x20:
			panic(fmt.Sprintf("unknown control %q", r))
		default:
			g.put(r)
		}
		s = s[n:]
	}
	return len(p), nil
}

func (g *Screen) down() {
	g.wraps = false
	if g.Row++; g.Row == len(g.rows) {
		g.rows = append(g.rows, nil)
	}
}

func (g *Screen) put(r rune) {
	width := render.Columns(string(r))
	if g.wraps || g.Col+width > g.columns {
		g.down()
		g.Col = 0
	}
	for len(g.rows[g.Row]) < g.Col+width {
		g.rows[g.Row] = append(g.rows[g.Row], ' ')
	}
	g.rows[g.Row][g.Col] = r
	if width == 2 {
		g.rows[g.Row][g.Col+1] = 0 // the other half
	}
	if g.Col += width; g.Col == g.columns {
		g.Col, g.wraps = g.columns-1, true
	}
}

func (g *Screen) control(argument string, final byte) {
	n, _ := strconv.Atoi(argument)
	switch final {
	case 'm':
	case 'h', 'l':
		g.Modes[argument] = final == 'h'
	case 'A':
		g.Row, g.wraps = max(g.Row-n, 0), false
	case 'C':
		g.Col, g.wraps = min(g.Col+n, g.columns-1), false
	case 'K':
		g.rows[g.Row] = g.rows[g.Row][:min(g.Col, len(g.rows[g.Row]))]
	case 'J':
		g.rows[g.Row] = g.rows[g.Row][:min(g.Col, len(g.rows[g.Row]))]
		g.rows = g.rows[:g.Row+1]
	default:
		panic(fmt.Sprintf("unknown sequence %q %c", argument, final))
	}
}

// Lines is the text on the screen.
func (g *Screen) Lines() []string {
	var lines []string
	for _, row := range g.rows {
		lines = append(lines, strings.TrimRight(strings.ReplaceAll(string(row), "\x00", ""), " "))
	}
	return lines
}
