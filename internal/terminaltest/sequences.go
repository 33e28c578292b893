package terminaltest

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Write shows what a program writes. A sequence may be divided over several writes.
func (e *Emulator) Write(p []byte) (int, error) {
	e.pending = append(e.pending, p...)
	for len(e.pending) > 0 {
		n := e.step(e.pending)
		if n == 0 {
			break // not complete
		}
		e.pending = e.pending[n:]
	}
	return len(p), nil
}

// step takes one character or sequence, and returns its bytes, 0 if more have to come.
func (e *Emulator) step(p []byte) int {
	switch {
	case p[0] == 0x1b:
		return e.escape(p)
	case p[0] < 0x20 || p[0] == 0x7f:
		e.c0(p[0])
		return 1
	case p[0] < 0x80:
		e.put(rune(p[0]))
		return 1
	case !utf8.FullRune(p):
		return 0
	}
	r, n := utf8.DecodeRune(p)
	if r >= 0x80 && r < 0xa0 {
		e.Seen[fmt.Sprintf("C1 %#x", r)]++
		return n
	}
	e.put(r)
	return n
}

func (e *Emulator) c0(b byte) {
	col := &e.Cursor.Col
	e.Seen[fmt.Sprintf("C0 %q", b)]++
	switch b {
	case '\b':
		*col, e.wraps = max(*col-1, 0), false
	case '\t':
		*col, e.wraps = min(*col/8*8+8, e.Columns-1), false
	case '\n', '\v', '\f':
		e.lineFeed()
	case '\r':
		*col, e.wraps = 0, false
	}
	e.last = ""
}

// escape takes a sequence that begins with ESC.
func (e *Emulator) escape(p []byte) int {
	if len(p) < 2 {
		return 0
	}
	switch p[1] {
	case '[':
		for i := 2; i < len(p); i++ {
			if p[i] >= 0x40 && p[i] <= 0x7e {
				e.csi(string(p[2:i]), p[i])
				return i + 1
			}
		}
		return 0
	case ']', 'P', '_', '^', 'X':
		for i := 2; i < len(p); i++ {
			switch {
			case p[i] == 0x07 && p[1] == ']':
				e.text(p[1], string(p[2:i]))
				return i + 1
			case p[i] == 0x1b && i+1 < len(p) && p[i+1] == '\\':
				e.text(p[1], string(p[2:i]))
				return i + 2
			}
		}
		return 0
	case '(', ')', '*', '+', '#', ' ', '%':
		if len(p) < 3 {
			return 0
		}
		e.Seen["ESC "+string(p[1:3])]++
		return 3
	}
	e.Seen["ESC "+string(p[1])]++
	switch p[1] {
	case '7':
		e.saved.row, e.saved.col = e.Cursor.Row, e.Cursor.Col
	case '8':
		e.moveTo(e.saved.row, e.saved.col)
	case 'D':
		e.lineFeed()
	case 'E':
		e.Cursor.Col = 0
		e.lineFeed()
	case 'M':
		if e.Cursor.Row == e.top {
			e.scroll(e.top, -1)
		} else {
			e.moveTo(e.Cursor.Row-1, e.Cursor.Col)
		}
	case 'c':
		e.cleared(e.rows...)
	}
	e.last = ""
	return 2
}

// text takes OSC, DCS, APC, PM or SOS.
func (e *Emulator) text(kind byte, s string) {
	e.Commands = append(e.Commands, s)
	if kind != ']' {
		e.Seen[map[byte]string{'P': "DCS", '_': "APC", '^': "PM", 'X': "SOS"}[kind]]++
		if strings.HasPrefix(s, "+q") {
			e.reply("\x1bP0+r\x1b\\") // XTGETTCAP: unknown
		}
		return
	}
	number, value, _ := strings.Cut(s, ";")
	e.Seen["OSC "+number]++
	switch number {
	case "0", "2":
		e.Title = value
	case "8":
		_, e.style.link, _ = strings.Cut(value, ";")
	case "10", "11":
		if value == "?" {
			colour := "0000/0000/0000"
			if e.Light == (number == "11") {
				colour = "ffff/ffff/ffff"
			}
			e.reply("\x1b]" + number + ";rgb:" + colour + "\x07")
		}
	}
}

func (e *Emulator) reply(answer string) {
	if !e.Silent && e.Reply != nil {
		e.Reply(answer)
	}
}

// csi takes a control sequence.
func (e *Emulator) csi(arguments string, final byte) {
	private, rest := "", arguments
	if rest != "" && strings.ContainsRune("?<=>", rune(rest[0])) {
		private, rest = rest[:1], rest[1:]
	}
	body := strings.TrimRight(rest, " !\"#$%&'()*+,-./")
	kind := private + rest[len(body):] + string(final)
	switch kind {
	case "h", "l", "?h", "?l":
		for mode := range strings.SplitSeq(body, ";") {
			e.Seen["CSI "+private+mode+string(final)]++
			e.mode(private+mode, final == 'h')
		}
		e.last = ""
		return
	}
	e.Seen["CSI "+kind]++
	if kind != "b" && kind != "m" {
		defer func() { e.last = "" }()
	}
	if private != "" || rest != body {
		e.query(kind, body)
		return
	}
	switch final {
	case 'm':
		e.style.set(body)
	case 'c', 'n', 't':
		e.query(kind, body)
	default:
		e.draw(final, body)
	}
}

func (e *Emulator) mode(mode string, on bool) {
	was := e.Modes[mode]
	e.Modes[mode] = on
	switch mode {
	case "?1049", "?47", "?1047":
		e.Modes["?1049"] = on
		if on != was {
			e.rows, e.other = e.other, e.rows
			if on {
				e.saved.row, e.saved.col = e.Cursor.Row, e.Cursor.Col
				e.rows = blank(e.Columns, e.Rows)
			} else {
				e.moveTo(e.saved.row, e.saved.col)
			}
		}
	case "?2026":
		if on {
			e.marked = true
		} else if was {
			e.Frames++
		}
	}
}

// query answers what a program asks, and takes what no one sees.
func (e *Emulator) query(kind, body string) {
	switch kind {
	case "c":
		e.reply("\x1b[?62;22c")
	case ">c":
		e.reply("\x1b[>1;10;0c")
	case ">q":
		e.reply("\x1bP>|terminaltest 1\x1b\\")
	case "n":
		if body == "6" {
			e.reply(fmt.Sprintf("\x1b[%d;%dR", e.Cursor.Row+1, e.Cursor.Col+1))
		} else if body == "5" {
			e.reply("\x1b[0n")
		}
	case "?$p":
		state := 0 // not known
		switch supported := body == "2026" && e.Marks || body == "2027" && e.Clusters; {
		case !supported:
		case e.Modes["?"+body]:
			state = 1
		default:
			state = 2
		}
		e.reply(fmt.Sprintf("\x1b[?%s;%d$y", body, state))
	case "?u":
		flags := 0
		if len(e.kitty) > 0 {
			flags = e.kitty[len(e.kitty)-1]
		}
		e.reply(fmt.Sprintf("\x1b[?%du", flags))
	case ">u":
		n, _ := strconv.Atoi(body)
		e.kitty = append(e.kitty, n)
	case "=u":
		// Flags of the keyboard without a stack: 0 restores what was there before.
		first, _, _ := strings.Cut(body, ";")
		n, _ := strconv.Atoi(first)
		e.kitty = e.kitty[:0]
		if n != 0 {
			e.kitty = append(e.kitty, n)
		}
	case "<u":
		n := max(first(body), 1)
		e.kitty = e.kitty[:max(len(e.kitty)-n, 0)]
	case "t":
		switch {
		case body == "14":
			e.reply(fmt.Sprintf("\x1b[4;%d;%dt", e.Rows*16, e.Columns*8))
		case body == "18":
			e.reply(fmt.Sprintf("\x1b[8;%d;%dt", e.Rows, e.Columns))
		case strings.HasPrefix(body, "22"):
			e.titles = append(e.titles, e.Title)
		case strings.HasPrefix(body, "23") && len(e.titles) > 0:
			e.Title, e.titles = e.titles[len(e.titles)-1], e.titles[:len(e.titles)-1]
		}
	}
}

// Keyboard is the flags of the kitty keyboard that are set, 0 for those of any terminal.
func (e *Emulator) Keyboard() int {
	if len(e.kitty) == 0 {
		return 0
	}
	return e.kitty[len(e.kitty)-1]
}

// first is the first number of the arguments, 0 without one.
func first(body string) int {
	number, _, _ := strings.Cut(body, ";")
	n, _ := strconv.Atoi(number)
	return n
}
