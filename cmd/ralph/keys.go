package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/render"
)

// keyboard turns the bytes of a terminal in raw mode into a line that golang.org/x/term edits, with its arrows and its
// history. Of that, only the editing is used: it draws on one more row where a line is long, and it takes every
// character for one column wide. It reads what this hands on and draws into nothing; the screen shows the line.
//
// What a person typed or pasted as text goes to the editor between the marks of a paste. It has no limit there, and
// no control character means anything.
type keyboard struct {
	part    []byte // of a character that came in pieces
	escape  []byte // of a sequence that is not over
	pasting bool

	editor *term.Terminal
	past   *typedLines
	input  []byte // what the editor has not read yet
	quoted bool   // input ends within the marks
	line   string // what is typed, as of the last settle
	pos    int    // of the cursor, in bytes
}

// stroke is what a key asks for besides editing.
type stroke int

const (
	edits    stroke = iota
	sends           // the line is complete
	leaves          // ctrl-d, or ctrl-c with nothing typed
	suspends        // ctrl-z
)

// lineBreak stands for a newline of a pasted text: to the editor, a newline is the end of the line. It is a code point
// that no text has.
const lineBreak = '\uFDD0'

// probe is a key without a meaning, for which the editor says what the line is.
const probe = 0

func newKeyboard() *keyboard {
	k := &keyboard{past: &typedLines{}}
	k.renew()
	return k
}

// renew begins an empty line.
func (k *keyboard) renew() {
	k.input, k.quoted, k.line, k.pos = nil, false, "", 0
	k.editor = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{k, io.Discard}, "")
	k.editor.History = k.past
	_ = k.editor.SetSize(math.MaxInt32, 1) // no line of it wraps
	k.editor.AutoCompleteCallback = func(line string, pos int, key rune) (string, int, bool) {
		if key == probe {
			k.line, k.pos = unmarked(line), len(unmarked(line[:pos]))
		}
		return "", 0, false
	}
}

func unmarked(line string) string { return strings.ReplaceAll(line, string(lineBreak), "\n") }

// errMore ends a read of the editor that has no input left.
var errMore = errors.New("no more keys")

// Read hands the editor its input.
func (k *keyboard) Read(p []byte) (int, error) {
	if len(k.input) == 0 {
		return 0, errMore
	}
	n := copy(p, k.input)
	k.input = k.input[n:]
	return n, nil
}

// settle has the editor take its input and say what the line is now.
func (k *keyboard) settle() (line string, sent bool) {
	k.control(probe)
	for {
		text, err := k.editor.ReadLine()
		if errors.Is(err, errMore) {
			return line, sent
		}
		if err != nil && !errors.Is(err, term.ErrPasteIndicator) {
			k.renew() // cannot be: what ends the input is never handed on
			return line, sent
		}
		line, sent = unmarked(text), true
	}
}

// control hands on what is not text.
func (k *keyboard) control(keys ...byte) {
	if k.quoted {
		k.input, k.quoted = append(k.input, "\x1b[201~"...), false
	}
	k.input = append(k.input, keys...)
}

// insert puts a text before what is typed.
func (k *keyboard) insert(text string) {
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

// text hands on a character of the line.
func (k *keyboard) text(r rune) {
	if !k.quoted {
		k.input, k.quoted = append(k.input, "\x1b[200~"...), true
	}
	k.input = utf8.AppendRune(k.input, r)
}

// key takes one byte. Where it sends, line is what was typed, without the blanks around it. The line is up to date
// after settle only.
func (k *keyboard) key(b byte) (line string, does stroke) {
	if k.escape != nil {
		k.sequence(b)
		return "", edits
	}
	switch {
	case b == 0x1B:
		k.escape = []byte{}
	case k.pasting && (b == '\r' || b == '\n'):
		k.text(lineBreak)
	case b == '\t':
		k.text(' ')
	case k.pasting && b < 0x20 || b == 0x7F && k.pasting: // of a pasted text only the text counts
	case b == '\r' || b == '\n':
		k.control('\r')
		line, _ = k.settle()
		if line = strings.TrimSpace(line); line != "" {
			return line, sends
		}
	case b == 3: // ctrl-c
		if k.settle(); k.line == "" {
			return "", leaves
		}
		k.renew()
	case b == 4: // ctrl-d
		if k.settle(); k.line == "" {
			return "", leaves
		}
		k.control(b)
	case b == 26: // ctrl-z
		return "", suspends
	case strings.IndexByte(editingKeys, b) >= 0:
		k.control(b)
	case b >= 0x20:
		k.character(b)
	}
	return "", edits
}

// editingKeys are those that the editor knows: ctrl-a b e f h k n p t u w, and backspace.
const editingKeys = "\x01\x02\x05\x06\x08\x0b\x0e\x10\x14\x15\x17\x7f"

func (k *keyboard) character(b byte) {
	k.part = append(k.part, b)
	if !utf8.FullRune(k.part) {
		return
	}
	if r, _ := utf8.DecodeRune(k.part); r != utf8.RuneError && r != lineBreak {
		k.text(r)
	}
	k.part = k.part[:0]
}

// editingSequences are the keys that terminals send as sequences, by what the editor knows them as.
var editingSequences = map[string]string{
	"[A": "[A", "[B": "[B", "[C": "[C", "[D": "[D", "[H": "[H", "[F": "[F",
	"OA": "[A", "OB": "[B", "OC": "[C", "OD": "[D", "OH": "[H", "OF": "[F",
	"[1~": "[H", "[7~": "[H", "[4~": "[F", "[8~": "[F", "[3~": "[3~",
	"[1;3C": "[1;3C", "[1;5C": "[1;3C", "f": "[1;3C", "[1;3D": "[1;3D", "[1;5D": "[1;3D", "b": "[1;3D",
}

// sequence takes a byte of an escape sequence: cursor keys, the marks around a pasted text, and others, which do nothing.
func (k *keyboard) sequence(b byte) {
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

// typedLines is the history of the typed line: the latest last.
type typedLines struct{ lines []string }

// linesKept is how far back the history goes.
const linesKept = 100

// Add takes a line that was sent. A blank one, and the same one again, is no news.
func (h *typedLines) Add(line string) {
	if strings.TrimSpace(unmarked(line)) == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	h.lines = append(h.lines, line)
	h.lines = h.lines[max(len(h.lines)-linesKept, 0):]
}

func (h *typedLines) Len() int { return len(h.lines) }

// At returns a line, the latest for 0.
func (h *typedLines) At(i int) string { return h.lines[len(h.lines)-1-i] }

const attachHelp = `type a line to steer the agent, or:
  /follow-up TEXT   tell it with its next prompt
  /pause  /resume   let the loop rest after this iteration, go on
  /stop  /stop now  end the loop after this iteration, or at once
  /set KEY=VALUE    change a setting, such as maximumIterations=30
  /kill             end the loop and its agent without asking
  /detach           leave; the loop goes on (also ctrl-d, ctrl-c)
arrows move within the line and through earlier ones, ctrl-z suspends
a line that begins with // is sent with one /`

// typedCommand reads a line as a command; problem says what is wrong with it.
func typedCommand(line string) (c inbox.Command, problem string) {
	if strings.HasPrefix(line, "//") {
		return inbox.Command{Kind: inbox.Steer, Text: line[1:]}, ""
	}
	if !strings.HasPrefix(line, "/") {
		return inbox.Command{Kind: inbox.Steer, Text: line}, ""
	}
	verb, rest, _ := strings.Cut(line[1:], " ")
	rest = strings.TrimSpace(rest)
	switch verb {
	case "steer":
		c = inbox.Command{Kind: inbox.Steer, Text: rest}
	case "follow-up":
		c = inbox.Command{Kind: inbox.FollowUp, Text: rest}
	case "stop":
		c = inbox.Command{Kind: inbox.Stop, Text: rest}
		if now, why, _ := strings.Cut(rest, " "); now == "now" {
			c = inbox.Command{Kind: inbox.StopNow, Text: why}
		}
	case "pause":
		c = inbox.Command{Kind: inbox.Pause}
	case "resume":
		c = inbox.Command{Kind: inbox.Resume}
	case "kill":
		c = inbox.Command{Kind: inbox.Kill}
	case "set":
		key, value, ok := strings.Cut(rest, "=")
		if !ok {
			return c, "write it as in '/set maximumIterations=30'"
		}
		c = inbox.Command{Kind: inbox.Set, Key: strings.TrimSpace(key), Value: strings.TrimSpace(value)}
	default:
		return c, fmt.Sprintf("there is no /%s; /help shows what there is", render.Clean(verb))
	}
	if err := c.Check(); err != nil {
		problem = err.Error()
	}
	return c, problem
}
