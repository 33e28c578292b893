package board

import (
	"slices"
	"strings"
	"unicode"
)

// line is a text that a person types, and where the cursor is in it. It may have several lines.
type line struct {
	text []rune
	pos  int // of the cursor, in runes
}

func newLine(text string) line { return line{text: []rune(text), pos: len([]rune(text))} }

func (l line) String() string { return string(l.text) }

// insert returns the line with a text at the cursor. Control characters are left out; a tab becomes
// a blank, and the newlines of a pasted text are kept.
func (l line) insert(text string) line {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", " ").Replace(text)
	var typed []rune
	for _, r := range text {
		if r == '\n' || !unicode.IsControl(r) {
			typed = append(typed, r)
		}
	}
	return line{text: slices.Insert(slices.Clone(l.text), l.pos, typed...), pos: l.pos + len(typed)}
}

// remove returns the line without what is between two places.
func (l line) remove(from, to int) line {
	return line{text: slices.Delete(slices.Clone(l.text), from, to), pos: from}
}

// edit returns the line after a key, and whether the key edits lines at all.
func (l line) edit(key string) (line, bool) {
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
		l = l.insert("\n")
	default:
		return l, false
	}
	return l, true
}

func (l line) wordBefore() int {
	at := l.pos
	for at > 0 && unicode.IsSpace(l.text[at-1]) {
		at--
	}
	for at > 0 && !unicode.IsSpace(l.text[at-1]) {
		at--
	}
	return at
}

func (l line) wordAfter() int {
	at := l.pos
	for at < len(l.text) && unicode.IsSpace(l.text[at]) {
		at++
	}
	for at < len(l.text) && !unicode.IsSpace(l.text[at]) {
		at++
	}
	return at
}
