package cast

import (
	"fmt"
	"strings"
	"time"
)

// Screen records the frames of a program that draws on the whole terminal.
type Screen struct {
	to      *Writer
	rows    []string // as the terminal shows them
	height  int
	entered bool
}

// NewScreen returns a Screen of so many rows.
func NewScreen(to *Writer, rows int) *Screen { return &Screen{to: to, height: rows} }

// Sequences that control a terminal.
const (
	enter     = "\x1b[?1049h\x1b[?25l" // the alternate screen, without a cursor
	leave     = "\x1b[?25h\x1b[?1049l"
	beginSync = "\x1b[?2026h"
	endSync   = "\x1b[?2026l"
)

// Frame records what the program shows from this moment on: one line for each row, with escape
// sequences for its style only, and not wider than the terminal. Rows that did not change are not
// written; a frame without any change is nothing.
func (s *Screen) Frame(at time.Duration, lines []string) {
	lines = lines[:min(len(lines), s.height)]
	var out strings.Builder
	if !s.entered {
		s.entered = true
		s.rows = make([]string, s.height)
		out.WriteString(enter)
	}
	for i := range s.rows {
		line := ""
		if i < len(lines) {
			line = lines[i]
		}
		if line == s.rows[i] {
			continue
		}
		s.rows[i] = line
		// The row is erased before it is written: after a row of full width, some terminals would
		// erase its last character.
		fmt.Fprintf(&out, "\x1b[%d;1H\x1b[m\x1b[2K%s", i+1, line)
		if strings.Contains(line, "\x1b") && !strings.HasSuffix(line, "\x1b[m") {
			out.WriteString("\x1b[m")
		}
	}
	if out.Len() > 0 {
		s.to.Output(at, beginSync+out.String()+endSync)
	}
}

// Leave restores the terminal.
func (s *Screen) Leave(at time.Duration) {
	if s.entered {
		s.entered = false
		s.to.Output(at, leave)
	}
}
