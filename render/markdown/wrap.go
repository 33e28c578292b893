package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/render"
)

// Wrap breaks spans into lines of at most width columns, between words where that is possible.
// Newlines in spans begin a new line. A width below 1 is 1; a character that is wider than the
// width is replaced by "?".
func Wrap(spans []Span, width int) []Line {
	if fits(spans, width) {
		return []Line{spans}
	}
	w := wrapper{width: max(width, 1)}
	for _, s := range spans {
		w.span(s)
	}
	w.place()
	return append(w.lines, w.line)
}

// Break breaks a span into lines of at most width columns, at the width.
func Break(spans []Span, width int) []Line {
	if fits(spans, width) {
		return []Line{spans}
	}
	w := wrapper{width: max(width, 1), hard: true}
	for _, s := range spans {
		w.span(s)
	}
	w.place()
	return append(w.lines, w.line)
}

// fits reports whether spans are one line as they are, as most are.
func fits(spans []Span, width int) bool {
	columns := 0
	for _, s := range spans {
		if strings.ContainsAny(s.Text, "\n\t") {
			return false
		}
		columns += render.Columns(s.Text)
	}
	return columns <= width && (len(spans) == 0 || !strings.HasSuffix(spans[len(spans)-1].Text, " "))
}

type wrapper struct {
	width int
	hard  bool // break at the width, and keep blanks
	lines []Line
	line  Line
	col   int

	word     Line
	wordCols int
	gap      Line // blanks between the line and the word
	gapCols  int
}

func (w *wrapper) span(s Span) {
	text := s.Text
	for text != "" {
		if n := plainPrefix(text); n > 0 && !w.hard {
			n = min(n, w.width-min(w.wordCols, w.width-1))
			w.grow(text[:n], n, s.Style)
			text = text[n:]
			continue
		}
		n, cols := cluster(text)
		if cols > w.width { // too wide as one: without what joins to it
			_, n = utf8.DecodeRuneInString(text)
			cols = render.Columns(text[:n])
		}
		switch c := text[:n]; {
		case c == "\n":
			w.place()
			w.newline()
		case c == "\t":
			w.place()
			w.blanks(4-(w.col+w.gapCols)%4, s.Style)
		case c == " " && !w.hard:
			w.place()
			w.blanks(1, s.Style)
		case cols > w.width:
			w.grow("?", 1, s.Style)
		case cols > 1 && isIdeograph(c):
			w.place()
			w.grow(c, cols, s.Style)
			w.place()
		default:
			w.grow(c, cols, s.Style)
		}
		text = text[n:]
	}
}

// plainPrefix returns how many bytes are ASCII letters, digits and signs.
func plainPrefix(s string) int {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7F || i+1 < len(s) && s[i+1] >= 0x80 {
			return i
		}
	}
	return len(s)
}

// grow adds to the word. A word that would be longer than a line is placed before.
func (w *wrapper) grow(text string, cols int, style Style) {
	if w.hard && w.col+w.wordCols+cols > w.width || w.wordCols+cols > w.width {
		w.place()
	}
	w.word = w.word.with(text, style)
	w.wordCols += cols
}

func (w *wrapper) blanks(n int, style Style) {
	w.gap = w.gap.with(strings.Repeat(" ", n), style)
	w.gapCols += n
	if w.hard { // blanks of code are kept
		for w.gapCols > 0 && w.col+w.gapCols > w.width {
			w.gapCols--
			w.gap[len(w.gap)-1].Text = w.gap[len(w.gap)-1].Text[1:]
		}
		w.put(w.gap, w.gapCols)
		w.gap, w.gapCols = nil, 0
	}
}

// place puts the word on this line or the next.
func (w *wrapper) place() {
	if len(w.word) == 0 {
		return
	}
	if w.col+w.gapCols+w.wordCols > w.width {
		if w.col > 0 {
			w.newline()
		}
		w.gap, w.gapCols = nil, 0
	}
	w.put(w.gap, w.gapCols)
	w.put(w.word, w.wordCols)
	w.word, w.wordCols, w.gap, w.gapCols = nil, 0, nil, 0
}

func (w *wrapper) put(spans Line, cols int) {
	for _, s := range spans {
		w.line = w.line.with(s.Text, s.Style)
	}
	w.col += cols
}

func (w *wrapper) newline() {
	w.lines = append(w.lines, w.line)
	w.line, w.col, w.gap, w.gapCols = nil, 0, nil, 0
}

// cluster returns the length and the columns of the first character as a person sees it: with its
// marks, and with what joins to it.
func cluster(s string) (n, cols int) {
	r, n := utf8.DecodeRuneInString(s)
	cols = render.Columns(s[:n])
	if r < ' ' || n < len(s) && s[n] < 0x80 {
		return n, cols
	}
	joined := false
	for n < len(s) && n < clusterMost {
		next, size := utf8.DecodeRuneInString(s[n:])
		if next <= ' ' || !joined && !unicode.In(next, unicode.Mn, unicode.Me, unicode.Mc, unicode.Cf) && (next < 0x1F3FB || next > 0x1F3FF) {
			break
		}
		joined = next == 0x200D
		cols += render.Columns(s[n : n+size])
		n += size
	}
	return n, cols
}

// clusterMost is the longest character in bytes. A longer one is taken for several.
const clusterMost = 64

// isIdeograph reports whether a line may end before and after a wide character.
func isIdeograph(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r >= 0x2E80
}
