package theme

import "strings"

// Style is how a run of text looks. The zero Style is the terminal's own.
type Style struct{ open string }

// closing ends every style.
const closing = "\x1b[m"

// Render returns a clean text in this style. Each line of the text begins and ends the style, so
// that lines can be cut apart. An empty text stays empty.
func (s Style) Render(text string) string {
	if s.open == "" || text == "" {
		return text
	}
	if strings.IndexByte(text, '\n') >= 0 {
		text = strings.ReplaceAll(text, "\n", closing+"\n"+s.open)
	}
	return s.open + text + closing
}

// Open returns the sequence that begins the style; it is empty for the terminal's own. Close ends
// it.
func (s Style) Open() string { return s.open }

// Close returns the sequence that ends the style; it is empty for the terminal's own.
func (s Style) Close() string {
	if s.open == "" {
		return ""
	}
	return closing
}

// With returns a style that has both: where they differ, that of other.
func (s Style) With(other Style) Style { return Style{s.open + other.open} }
