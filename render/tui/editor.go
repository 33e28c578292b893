package tui

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-loop/ralph/render"
)

// editor is a text that a person types. It may have several lines.
type editor struct {
	text []rune
	at   int // the cursor: before this rune

	past   []string // what was typed before, the oldest first
	recall int      // how far back in it; 0 is the text that is typed now
	draft  []rune   // that text, while an earlier one is shown
}

// historyKept is how many typed texts are remembered.
const historyKept = 100

func (e *editor) String() string { return string(e.text) }

func (e *editor) empty() bool { return len(e.text) == 0 }

// set replaces the text; the cursor is at its end.
func (e *editor) set(text string) {
	e.text = []rune(text)
	e.at = len(e.text)
}

// take returns the text, remembers it and clears the line.
func (e *editor) take() string {
	text := strings.TrimSpace(string(e.text))
	if text != "" && (len(e.past) == 0 || e.past[len(e.past)-1] != text) {
		e.past = append(e.past, text)
		if len(e.past) > historyKept {
			e.past = e.past[1:]
		}
	}
	e.text, e.at, e.recall, e.draft = nil, 0, 0, nil
	return text
}

func (e *editor) insert(text string) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	typed := []rune(strings.ReplaceAll(text, "\r", "\n"))
	e.text = slices.Insert(e.text, e.at, typed...)
	e.at += len(typed)
}

// key handles a key that edits, and reports whether it was one.
func (e *editor) key(k tea.KeyPressMsg) bool {
	switch k.Keystroke() {
	case "left", "ctrl+b":
		e.at = max(e.at-1, 0)
	case "right":
		e.at = min(e.at+1, len(e.text))
	case "alt+left", "ctrl+left", "alt+b":
		e.at = e.wordBefore()
	case "alt+right", "ctrl+right", "alt+f":
		e.at = e.wordAfter()
	case "home", "ctrl+a":
		e.at = e.lineStart()
	case "end", "ctrl+e":
		e.at = e.lineEnd()
	case "backspace", "ctrl+h", "shift+backspace":
		e.cut(max(e.at-1, 0), e.at)
	case "delete":
		e.cut(e.at, min(e.at+1, len(e.text)))
	case "ctrl+w", "alt+backspace", "ctrl+backspace":
		e.cut(e.wordBefore(), e.at)
	case "alt+d", "ctrl+delete":
		e.cut(e.at, e.wordAfter())
	case "ctrl+u":
		e.cut(e.lineStart(), e.at)
	case "ctrl+k":
		e.cut(e.at, e.lineEnd())
	case "shift+enter", "ctrl+j":
		e.insert("\n")
	case "ctrl+p":
		e.back(1)
	case "ctrl+n":
		e.back(-1)
	default:
		if k.Text == "" || k.Mod&(tea.ModCtrl|tea.ModAlt) != 0 {
			return false
		}
		e.insert(k.Text)
	}
	return true
}

func (e *editor) cut(from, to int) {
	e.text = slices.Delete(e.text, from, to)
	e.at = from
}

// back shows an earlier text, or a later one if by is negative.
func (e *editor) back(by int) {
	to := min(max(e.recall+by, 0), len(e.past))
	if to == e.recall {
		return
	}
	if e.recall == 0 {
		e.draft = e.text
	}
	if e.recall = to; to == 0 {
		e.set(string(e.draft))
		return
	}
	e.set(e.past[len(e.past)-to])
}

func (e *editor) lineStart() int {
	if i := slices.Index(reversed(e.text[:e.at]), '\n'); i >= 0 {
		return e.at - i
	}
	return 0
}

func (e *editor) lineEnd() int {
	if i := slices.Index(e.text[e.at:], '\n'); i >= 0 {
		return e.at + i
	}
	return len(e.text)
}

func reversed(text []rune) []rune {
	text = slices.Clone(text)
	slices.Reverse(text)
	return text
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

func (e *editor) wordBefore() int {
	at := e.at
	for at > 0 && !isWord(e.text[at-1]) {
		at--
	}
	for at > 0 && isWord(e.text[at-1]) {
		at--
	}
	return at
}

func (e *editor) wordAfter() int {
	at := e.at
	for at < len(e.text) && !isWord(e.text[at]) {
		at++
	}
	for at < len(e.text) && isWord(e.text[at]) {
		at++
	}
	return at
}

// rowsMost is how many rows of a long text are shown.
const rowsMost = 5

// rows returns the text in rows of so many columns, as many as are shown around the cursor, and the
// cursor in them. Only what is near the cursor is measured: a long log may have been pasted.
func (e *editor) rows(columns int) (rows []string, row, column int) {
	columns = max(columns, 2)
	from := max(e.at-rowsMost*columns, 0)
	to := min(e.at+rowsMost*columns, len(e.text))
	var line strings.Builder
	width := 0
	end := func() {
		rows = append(rows, line.String())
		line.Reset()
		width = 0
	}
	for i := from; i <= to; i++ {
		if i == e.at {
			row, column = len(rows), width
		}
		if i == to {
			break
		}
		if e.text[i] == '\n' {
			end()
			continue
		}
		shown := render.Clean(string(e.text[i]))
		wide := render.Columns(shown)
		if width+wide > columns {
			end()
			if i == e.at {
				row, column = len(rows), 0
			}
		}
		line.WriteString(shown)
		width += wide
	}
	if end(); column >= columns { // the cursor is after the last column
		row, column = row+1, 0
		rows = slices.Insert(rows, row, "")
	}
	first := min(max(row-rowsMost/2, 0), max(len(rows)-rowsMost, 0))
	return rows[first:min(first+rowsMost, len(rows))], row - first, column
}
