package attach

import (
	"errors"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// lineEditor passes the bytes of a terminal in raw mode to golang.org/x/term, which edits a line
// with arrows and a history. Only its editing is used: it would draw a long line on several rows,
// and it counts every character as one column. The screen draws the line. See
// docs/decisions/0039-the-typed-line.md.
//
// Text is passed on between the marks of a paste: there, the editor does not limit its length and
// ignores control characters.
type lineEditor struct {
	partial []byte // the first bytes of a character
	escape  []byte // the first bytes of an escape sequence
	pasting bool

	editor  *term.Terminal
	history *typedLines
	input   []byte // what the editor has not read yet
	quoted  bool   // input ends between the marks of a paste
	line    string // what is typed, as of the last settle
	pos     int    // of the cursor, in bytes
}

// keyAction is the action of a key besides editing.
type keyAction int

const (
	actionEdit    keyAction = iota
	actionSend              // the line is complete
	actionLeave             // ctrl-d, or ctrl-c with nothing typed
	actionSuspend           // ctrl-z
)

// lineBreak replaces a newline of a pasted text, at which the editor would end the line. It is a
// code point that no text has.
const lineBreak = '\uFDD0'

// readLineKey is a key without a function, at which the editor calls back with the line.
const readLineKey = 0

func newLineEditor() *lineEditor {
	k := &lineEditor{history: &typedLines{}}
	k.reset()
	return k
}

// reset begins an empty line.
func (k *lineEditor) reset() {
	k.input, k.quoted, k.line, k.pos = nil, false, "", 0
	k.editor = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{k, io.Discard}, "")
	k.editor.History = k.history
	_ = k.editor.SetSize(math.MaxInt32, 1) // no line of it wraps
	k.editor.AutoCompleteCallback = func(line string, pos int, key rune) (string, int, bool) {
		if key == readLineKey {
			k.line, k.pos = unmarked(line), len(unmarked(line[:pos]))
		}
		return "", 0, false
	}
}

func unmarked(line string) string { return strings.ReplaceAll(line, string(lineBreak), "\n") }

// errMore ends a read of the editor that has no input left.
var errMore = errors.New("no more keys")

// Read is called by the editor for its input.
func (k *lineEditor) Read(p []byte) (int, error) {
	if len(k.input) == 0 {
		return 0, errMore
	}
	n := copy(p, k.input)
	k.input = k.input[n:]
	return n, nil
}

// settle lets the editor process its input, and updates line and pos. It returns the line that was
// completed, if any.
func (k *lineEditor) settle() (line string) {
	k.control(readLineKey)
	for {
		text, err := k.editor.ReadLine()
		if errors.Is(err, errMore) {
			return line
		}
		if err != nil && !errors.Is(err, term.ErrPasteIndicator) {
			k.reset() // cannot happen: the keys that end the input are never passed on
			return line
		}
		line = unmarked(text)
	}
}

// control passes on keys that are not text.
func (k *lineEditor) control(keys ...byte) {
	if k.quoted {
		k.input, k.quoted = append(k.input, "\x1b[201~"...), false
	}
	k.input = append(k.input, keys...)
}

// insert inserts a text before what is typed.
func (k *lineEditor) insert(text string) {
	if k.settle(); k.line != "" {
		text += " "
	}
	k.control(1) // ctrl-a
	for _, r := range text {
		if r == '\n' {
			r = lineBreak
		}
		k.text(r)
	}
	k.control(5) // ctrl-e
}

// text passes a character of the line on to the editor.
func (k *lineEditor) text(r rune) {
	if !k.quoted {
		k.input, k.quoted = append(k.input, "\x1b[200~"...), true
	}
	k.input = utf8.AppendRune(k.input, r)
}

// key takes one byte. With actionSend, line is what was typed, without surrounding white space. The
// fields line and pos are up to date after settle only.
func (k *lineEditor) key(b byte) (line string, does keyAction) {
	if k.escape != nil {
		k.sequence(b)
		return "", actionEdit
	}
	switch {
	case b == 0x1B:
		k.escape = []byte{}
	case k.pasting && (b == '\r' || b == '\n'):
		k.text(lineBreak)
	case b == '\t':
		k.text(' ')
	case k.pasting && (b < 0x20 || b == 0x7F): // keys have no function in a pasted text
	case b == '\r' || b == '\n':
		k.control('\r')
		if line = strings.TrimSpace(k.settle()); line != "" {
			return line, actionSend
		}
	case b == 3: // ctrl-c
		if k.settle(); k.line == "" {
			return "", actionLeave
		}
		k.reset()
	case b == 4: // ctrl-d
		if k.settle(); k.line == "" {
			return "", actionLeave
		}
		k.control(b)
	case b == 26: // ctrl-z
		return "", actionSuspend
	case strings.IndexByte(editingKeys, b) >= 0:
		k.control(b)
	case b >= 0x20:
		k.character(b)
	}
	return "", actionEdit
}

// editingKeys are the keys that the editor knows: ctrl-a b e f h k n p t u w, and backspace.
const editingKeys = "\x01\x02\x05\x06\x08\x0b\x0e\x10\x14\x15\x17\x7f"

func (k *lineEditor) character(b byte) {
	k.partial = append(k.partial, b)
	if !utf8.FullRune(k.partial) {
		return
	}
	if r, _ := utf8.DecodeRune(k.partial); r != utf8.RuneError && r != lineBreak {
		k.text(r)
	}
	k.partial = k.partial[:0]
}

// editingSequences map the sequences that terminals send for keys to those that the editor knows.
var editingSequences = map[string]string{
	"[A": "[A", "[B": "[B", "[C": "[C", "[D": "[D", "[H": "[H", "[F": "[F",
	"OA": "[A", "OB": "[B", "OC": "[C", "OD": "[D", "OH": "[H", "OF": "[F",
	"[1~": "[H", "[7~": "[H", "[4~": "[F", "[8~": "[F", "[3~": "[3~",
	"[1;3C": "[1;3C", "[1;5C": "[1;3C", "f": "[1;3C", "[1;3D": "[1;3D", "[1;5D": "[1;3D", "b": "[1;3D",
}

// sequence takes a byte of an escape sequence: a cursor key, a mark around a pasted text, or
// another one, which does nothing.
func (k *lineEditor) sequence(b byte) {
	k.escape = append(k.escape, b)
	introduced := k.escape[0] == '[' || k.escape[0] == 'O'
	if introduced && (len(k.escape) == 1 || b < 0x40) && len(k.escape) < 16 {
		return
	}
	switch sequence := string(k.escape); {
	case sequence == "[200~":
		k.pasting = true
	case sequence == "[201~":
		k.pasting = false
	case k.pasting:
	case editingSequences[sequence] != "":
		k.control(append([]byte{0x1B}, editingSequences[sequence]...)...)
	}
	k.escape = nil
}

// typedLines is the history of the typed line, the latest last.
type typedLines struct{ lines []string }

// maxLines is the length of the history.
const maxLines = 100

// Add appends a line that was sent, unless it is blank or the same as the last.
func (h *typedLines) Add(line string) {
	if strings.TrimSpace(unmarked(line)) == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	h.lines = append(h.lines, line)
	h.lines = h.lines[max(len(h.lines)-maxLines, 0):]
}

func (h *typedLines) Len() int { return len(h.lines) }

// At returns a line; 0 is the latest.
func (h *typedLines) At(i int) string { return h.lines[len(h.lines)-1-i] }
