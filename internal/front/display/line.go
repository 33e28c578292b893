package display

import (
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/render"
)

// Line is a text that a person types, and where the cursor is in it. It may have several lines.
type Line struct {
	text []rune
	pos  int // of the cursor, in runes
}

// NewLine returns a text with the cursor at its end.
func NewLine(text string) Line { return Line{text: []rune(text), pos: len([]rune(text))} }

func (l Line) String() string { return string(l.text) }

// Insert returns the line with a text at the cursor. Control characters are left out; a tab becomes
// a blank, and the newlines of a pasted text are kept.
func (l Line) Insert(text string) Line {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", " ").Replace(text)
	var typed []rune
	for _, r := range text {
		if r == '\n' || !unicode.IsControl(r) {
			typed = append(typed, r)
		}
	}
	return Line{text: slices.Insert(slices.Clone(l.text), l.pos, typed...), pos: l.pos + len(typed)}
}

// remove returns the line without what is between two places.
func (l Line) remove(from, to int) Line {
	return Line{text: slices.Delete(slices.Clone(l.text), from, to), pos: from}
}

// Edit returns the line after a key, and whether the key edits lines at all.
func (l Line) Edit(key string) (Line, bool) {
	switch key {
	case "left", "ctrl+b":
		l.pos = max(l.pos-1, 0)
	case "right", "ctrl+f":
		l.pos = min(l.pos+1, len(l.text))
	case "home", "ctrl+a":
		l.pos = 0
	case "end", "ctrl+e":
		l.pos = len(l.text)
	case "alt+left", "ctrl+left", "alt+b":
		l.pos = l.wordBefore()
	case "alt+right", "ctrl+right", "alt+f":
		l.pos = l.wordAfter()
	case "backspace", "ctrl+h":
		l = l.remove(max(l.pos-1, 0), l.pos)
	case "delete", "ctrl+d":
		l = l.remove(l.pos, min(l.pos+1, len(l.text)))
	case "ctrl+w", "alt+backspace":
		l = l.remove(l.wordBefore(), l.pos)
	case "ctrl+u":
		l = l.remove(0, l.pos)
	case "ctrl+k":
		l = l.remove(l.pos, len(l.text))
	case "ctrl+j", "alt+enter", "shift+enter":
		l = l.Insert("\n")
	default:
		return l, false
	}
	return l, true
}

func (l Line) wordBefore() int {
	at := l.pos
	for at > 0 && unicode.IsSpace(l.text[at-1]) {
		at--
	}
	for at > 0 && !unicode.IsSpace(l.text[at-1]) {
		at--
	}
	return at
}

func (l Line) wordAfter() int {
	at := l.pos
	for at < len(l.text) && unicode.IsSpace(l.text[at]) {
		at++
	}
	for at < len(l.text) && !unicode.IsSpace(l.text[at]) {
		at++
	}
	return at
}

// Rows breaks the text into rows of so many columns, and returns where the cursor is.
func (l Line) Rows(width int) (rows []string, row, column int) {
	rows = []string{""}
	used := 0
	for i := 0; i <= len(l.text); i++ {
		if i == l.pos {
			row, column = len(rows)-1, used
		}
		if i == len(l.text) {
			break
		}
		r := l.text[i]
		if r == '\n' {
			rows, used = append(rows, ""), 0
			continue
		}
		text := render.Clean(string(r))
		n := render.Columns(text)
		if used+n > width {
			rows, used = append(rows, ""), 0
			if i == l.pos {
				row, column = len(rows)-1, 0
			}
		}
		rows[len(rows)-1] += text
		used += n
	}
	return rows, row, column
}
