package markdown

import (
	"strings"

	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/highlight"
)

// Class is what a span of text is.
type Class uint8

// The classes.
const (
	Text Class = iota
	Heading
	Code   // code within a sentence
	Block  // a line of a code block; Style.Token says more
	Link   // the text of a link, or a bare address
	Dim    // the address of a link, HTML, marks of a heading
	Quote  // the mark of a quote
	Marker // the mark of a list
	Border // lines of tables, frames and rules
)

// Style is how a span differs from others.
type Style struct {
	Class                    Class
	Token                    highlight.Class // of a Block
	Strong, Emphasis, Struck bool
}

// Span is a text of one style on one line.
type Span struct {
	Text  string
	Style Style
}

// Line is one line of a terminal. Neighbouring spans differ in style.
type Line []Span

// String returns the text of a line without styles.
func (l Line) String() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Columns returns how many columns a line takes.
func (l Line) Columns() (n int) {
	for _, s := range l {
		n += render.Columns(s.Text)
	}
	return n
}

// with returns the line with a text at its end.
func (l Line) with(text string, style Style) Line {
	switch n := len(l); {
	case text == "":
		return l
	case n > 0 && l[n-1].Style == style:
		l[n-1].Text += text
		return l
	}
	return append(l, Span{text, style})
}

// join returns a new line of two.
func join(a, b Line) Line {
	line := append(make(Line, 0, len(a)+len(b)), a...)
	for _, s := range b {
		line = line.with(s.Text, s.Style)
	}
	return line
}
