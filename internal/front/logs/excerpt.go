package logs

import (
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/render"
)

// excerptColumns is how much of a text is shown around a match where lines may have any length.
const excerptColumns = 160

// excerpt returns the part of a text around a match in at most so many columns, with the match
// between on and off.
func excerpt(text string, from, to, columns int, on, off string) string {
	match := render.Cut(render.Clean(text[from:to]), columns)
	left := max(0, columns-render.Columns(match))
	before := lastColumns(render.Clean(window(text[:from], -4*columns)), left/3, from > 4*columns)
	after := render.Cut(render.Clean(window(text[to:], 4*columns)), max(1, left-render.Columns(before)))
	if left-render.Columns(before) <= 0 {
		after = ""
	}
	return before + on + match + off + strings.TrimRight(after, " ")
}

// window returns the first bytes of a text, or the last ones where n is negative, without broken
// characters at its edge. It bounds what has to be cleaned.
func window(text string, n int) string {
	switch {
	case n >= 0 && n < len(text):
		for n > 0 && !utf8.RuneStart(text[n]) {
			n--
		}
		return text[:n]
	case n < 0 && -n < len(text):
		from := len(text) + n
		for from < len(text) && !utf8.RuneStart(text[from]) {
			from++
		}
		return text[from:]
	}
	return text
}

// lastColumns returns the end of a clean text in at most so many columns, from the beginning of a
// word on where one begins there. A text that was cut begins with "…".
func lastColumns(text string, columns int, cut bool) string {
	if !cut && render.Columns(text) <= columns {
		return text
	}
	if columns < 2 {
		return ""
	}
	used, from := 1, len(text)
	for from > 0 {
		r, n := utf8.DecodeLastRuneInString(text[:from])
		if used += render.Columns(string(r)); used > columns {
			break
		}
		from -= n
	}
	rest := text[from:]
	if at := strings.IndexByte(rest, ' '); at >= 0 && at < len(rest)/2 {
		rest = rest[at+1:]
	}
	return "…" + rest
}
