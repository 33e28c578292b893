package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/render"
)

// Wrap breaks spans into lines of at most width columns, between words where that is possible.
// Newlines in spans begin a new line, and a tab is up to four blanks. A width below 2
// is 2.
func Wrap(spans []Span, width int) []Line {
	if fits(spans, width) {
		return []Line{spans}
	}
	w := newWrapper(spans, width)
	for at := 0; at < len(w.text); {
		switch w.text[at] {
		case '\n':
			w.emit(at + 1)
			at++
		case ' ':
			w.gap++
			at++
		default:
			end, cols := word(w.text[at:])
			w.place(at, at+end, cols)
			at += end
		}
	}
	w.emit(len(w.text))
	return w.lines
}

// Break breaks spans into lines of at most width columns, at the width. It keeps blanks.
func Break(spans []Span, width int) []Line {
	if fits(spans, width) {
		return []Line{spans}
	}
	w := newWrapper(spans, width)
	for at := 0; at < len(w.text); {
		if w.text[at] == '\n' {
			w.emit(at + 1)
			at++
			continue
		}
		n, cols := cluster(w.text[at:], w.width)
		if w.cols+cols > w.width {
			w.emit(at)
		}
		w.end, w.cols = at+n, w.cols+cols
		at += n
	}
	w.emit(len(w.text))
	return w.lines
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

// A wrapper cuts a text into lines, without copying it.
type wrapper struct {
	width int
	text  string
	spans []Span // of the text
	from  int    // where the first of the spans begins in the text

	lines      []Line
	begin, end int // of the present line
	cols       int
	gap        int // blanks after its end
}

func newWrapper(spans []Span, width int) *wrapper {
	w := &wrapper{width: max(width, 2)}
	var b strings.Builder
	at := 0 // the column of the text's end
	for _, s := range spans {
		before := b.Len()
		for text := range strings.SplitAfterSeq(s.Text, "\t") {
			plain, tab := strings.CutSuffix(text, "\t")
			last := strings.LastIndexByte(plain, '\n') + 1
			if last > 0 {
				at = 0
			}
			at += render.Columns(plain[last:])
			b.WriteString(plain)
			if tab {
				b.WriteString("    "[at%4:])
				at += 4 - at%4
			}
		}
		s.Text = b.String()[before:]
		w.spans = append(w.spans, s)
	}
	w.text = b.String()
	return w
}

// word returns the length and columns of the word that a text begins with.
func word(text string) (n, cols int) {
	if text[0] < ' ' { // no clean text has one
		return 1, 1
	}
	for n < len(text) && text[n] > ' ' {
		if text[n] < 0x80 && (n+1 == len(text) || text[n+1] < 0x80) {
			n++
			cols++
			continue
		}
		size, wide := cluster(text[n:], 1<<16)
		if wide > 1 && isIdeograph(text[n:]) { // a line may end before and after it
			if n == 0 {
				return size, wide
			}
			return n, cols
		}
		n += size
		cols += wide
	}
	return n, cols
}

// place puts a word on this line or the next.
func (w *wrapper) place(begin, end, cols int) {
	if w.cols+w.gap+cols > w.width {
		if w.cols > 0 {
			w.emit(begin)
		}
		w.begin, w.cols, w.gap = begin, 0, 0
	}
	for cols > w.width { // it is broken
		at, used := begin, 0
		for {
			n, more := cluster(w.text[at:end], w.width)
			if used+more > w.width {
				break
			}
			at += n
			used += more
		}
		w.end = at
		w.emit(at)
		begin, cols = at, cols-used
	}
	w.end = end
	w.cols += w.gap + cols
	w.gap = 0
}

// emit ends the line, and begins the next one at a place of the text.
func (w *wrapper) emit(next int) {
	var line Line
	for at := w.begin; at < w.end; {
		for at >= w.from+len(w.spans[0].Text) {
			w.from += len(w.spans[0].Text)
			w.spans = w.spans[1:]
		}
		end := min(w.end, w.from+len(w.spans[0].Text))
		line = append(line, Span{w.text[at:end], w.spans[0].Style})
		at = end
	}
	w.lines = append(w.lines, line)
	w.begin, w.end, w.cols, w.gap = next, next, 0, 0
}

// cluster returns the length and the columns of the first character as a person sees it: with its
// marks, and with what joins to it. One that is wider than a line is taken without what joins.
func cluster(s string, width int) (n, cols int) {
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
		more := render.Columns(s[n : n+size])
		if cols+more > width {
			break
		}
		joined = next == 0x200D
		cols += more
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
