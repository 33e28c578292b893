package plain

import (
	"bytes"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/render"
)

// wrapper wraps clean text between words, in lines of at most width columns. Text comes in pieces.
// The last word of a piece is withheld while it may become too long for the line; a word that was
// already written when it grew past the edge is broken there.
type wrapper struct {
	out    []byte
	width  int // 0: lines are not broken
	col    int // columns used on the present line
	margin int // blanks before each line of the block
	hang   int // blanks before the rest of a line that was broken
	fresh  bool

	word     []byte
	wordCols int
	gap      int // blanks between the line and the word
}

// slack is the space after the last word of a piece that lets the word be shown before it is known
// to be complete.
const slack = 12

// raw adds text that is clean, has no newline, and is not broken.
func (f *wrapper) raw(s string) {
	f.out = append(f.out, s...)
	f.col += render.Columns(s)
}

// code adds a code without a width.
func (f *wrapper) code(code string) { f.out = append(f.out, code...) }

func (f *wrapper) blanks(n int) {
	f.col += n
	for ; n > 0; n-- {
		f.out = append(f.out, ' ')
	}
}

func (f *wrapper) newline() {
	f.out = append(f.out, '\n')
	f.col, f.gap = 0, 0
}

// begin opens a block with a margin of blanks. The current line may contain a marker already.
func (f *wrapper) begin(margin int) {
	if f.width > 0 {
		margin = min(margin, f.width/2)
	}
	f.margin, f.hang, f.gap, f.fresh = margin, margin, 0, true
}

// text adds one piece.
func (f *wrapper) text(b []byte) {
	if f.width <= 0 {
		f.unbroken(b)
		return
	}
	for len(b) > 0 {
		n := wordPrefix(b)
		if room := f.room(); n > room-f.wordCols {
			n = max(room-f.wordCols, 0)
		}
		if n > 0 {
			f.word = append(f.word, b[:n]...)
			f.wordCols += n
			b = b[n:]
			continue
		}
		r, size := utf8.DecodeRune(b)
		f.rune(r, b[:size])
		b = b[size:]
	}
	// The last word is shown when its line is certain.
	end := f.col + f.gap + f.wordCols
	if end <= f.width-slack || end > f.width && f.hang+f.wordCols <= f.width-slack {
		f.place()
	}
}

// wordPrefix returns how many bytes are ASCII letters, digits and signs.
func wordPrefix(b []byte) int {
	for i, c := range b {
		if c <= ' ' || c >= 0x7F {
			return i
		}
	}
	return len(b)
}

// room is the longest word that is not broken.
func (f *wrapper) room() int { return max(f.width-f.hang, 1) }

func (f *wrapper) rune(r rune, b []byte) {
	switch {
	case r == '\n':
		f.place()
		f.newline()
		f.fresh = true
		return
	case r == '\t':
		f.place()
		f.gap += 8 - (f.col+f.gap)%8
		return
	case r == ' ':
		f.place()
		f.gap++
		return
	}
	w := render.RuneColumns(r)
	// Scripts with wide characters are written without blanks: a line may end
	// before and after each of them.
	if w == 2 || f.wordCols+w > f.room() {
		f.place()
	}
	f.word = append(f.word, b...)
	f.wordCols += w
	if w == 2 {
		f.place()
	}
}

// place puts the word that was collected on this line or the next.
func (f *wrapper) place() {
	if len(f.word) == 0 {
		return
	}
	if f.fresh {
		f.fresh = false
		indented := f.col == 0
		if indented {
			f.blanks(f.margin)
		}
		f.gap = min(f.gap, f.width/2-min(f.margin, f.width/2))
		f.hang = f.margin + f.gap
		if indented { // the line is empty: a word that is too long gets less indentation
			f.gap = min(f.gap, max(f.width-f.col-f.wordCols, 0))
		}
	}
	if f.col+f.gap+f.wordCols > f.width && f.col > 0 {
		f.newline()
		f.blanks(min(f.hang, max(f.width-f.wordCols, 0)))
	}
	f.blanks(f.gap)
	f.out = append(f.out, f.word...)
	f.col += f.wordCols
	f.word, f.wordCols, f.gap = f.word[:0], 0, 0
}

// unbroken adds text for an output without a width: only the margin is added to each line.
func (f *wrapper) unbroken(b []byte) {
	for line := range bytes.Lines(b) {
		text := bytes.TrimSuffix(line, []byte{'\n'})
		if len(text) > 0 {
			if f.col == 0 {
				f.blanks(f.margin)
			}
			f.out = append(f.out, text...)
			f.col++ // only whether it is 0 matters
		}
		if len(text) < len(line) {
			f.newline()
		}
	}
}

// end closes the block: its last line ends.
func (f *wrapper) end() {
	f.place()
	if f.col > 0 {
		f.newline()
	}
	f.margin, f.hang, f.gap = 0, 0, 0
}
