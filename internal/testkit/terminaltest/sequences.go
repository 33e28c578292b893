package terminaltest

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// handle has the parser call what takes each kind of sequence.
func (e *Emulator) handle() {
	text := func(kind string) func([]byte) {
		return func(data []byte) { e.text(kind, data) }
	}
	e.parser.SetHandler(ansi.Handler{
		Print: e.print, Execute: e.control, HandleEsc: e.escape, HandleCsi: e.csi,
		HandleOsc: func(_ int, data []byte) { e.osc(data) },
		HandleDcs: func(cmd ansi.Cmd, _ ansi.Params, data []byte) {
			e.text("DCS", data)
			if cmd.Intermediate() == '+' && cmd.Final() == 'q' {
				e.reply("\x1bP0+r\x1b\\") // XTGETTCAP: unknown
			}
		},
		HandleApc: text("APC"), HandlePm: text("PM"), HandleSos: text("SOS"),
	})
}

func (e *Emulator) print(r rune) {
	if r >= 0x80 && r < 0xa0 {
		e.control(byte(r))
		return
	}
	e.put(r)
}

func (e *Emulator) control(b byte) {
	if b >= 0x80 {
		e.Seen[fmt.Sprintf("C1 %#x", b)]++
		return
	}
	e.Seen[fmt.Sprintf("C0 %q", b)]++
	switch b {
	case '\b':
		e.moveTo(e.Cursor.Row, e.Cursor.Col-1)
	case '\t':
		e.moveTo(e.Cursor.Row, e.Cursor.Col/8*8+8)
	case '\n', '\v', '\f':
		e.lineFeed()
	case '\r':
		e.moveTo(e.Cursor.Row, 0)
	}
	e.last = ""
}

func (e *Emulator) escape(cmd ansi.Cmd) {
	if cmd == '\\' {
		return // it ends a string
	}
	e.Seen["ESC "+parts(cmd.Intermediate(), cmd.Final())]++
	if cmd.Intermediate() != 0 {
		return
	}
	switch cmd {
	case '7':
		e.saved = e.Cursor
	case '8':
		e.moveTo(e.saved.Row, e.saved.Col)
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
		e.clear()
	}
	e.last = ""
}

// parts joins the bytes that name a sequence; 0 is none.
func parts(bytes ...byte) string {
	return strings.ReplaceAll(string(bytes), "\x00", "")
}

// text takes a string, and returns it as it was written.
func (e *Emulator) text(kind string, data []byte) string {
	s, _ := url.PathUnescape(string(data)) // see Write
	e.Seen[kind]++
	e.Commands = append(e.Commands, s)
	return s
}

func (e *Emulator) osc(data []byte) {
	number, _, _ := strings.Cut(string(data), ";")
	_, value, _ := strings.Cut(e.text("OSC "+number, data), ";")
	switch number {
	case "8":
		_, e.link, _ = strings.Cut(value, ";")
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
func (e *Emulator) csi(cmd ansi.Cmd, params ansi.Params) {
	kind := parts(cmd.Prefix(), cmd.Intermediate(), cmd.Final())
	first, _, _ := params.Param(0, 0)
	if kind != "b" && kind != "m" {
		e.last = ""
	}
	switch kind {
	case "h", "l", "?h", "?l":
		private := parts(cmd.Prefix())
		params.ForEach(0, func(_, n int, _ bool) {
			mode := private + strconv.Itoa(n)
			e.Seen["CSI "+mode+string(cmd.Final())]++
			e.mode(mode, cmd.Final() == 'h')
		})
		return
	}
	e.Seen["CSI "+kind]++
	switch {
	case kind == "m":
		uv.ReadStyle(params, &e.style)
	case len(kind) > 1 || strings.Contains("cnt", kind):
		e.query(kind, first)
	case strings.Contains("JKXP@LMST", kind):
		e.changes()
		e.wraps = false
		e.change(kind, max(first, 1), first)
	default:
		second, _, _ := params.Param(1, 0)
		e.move(kind, max(first, 1), second)
	}
}

func (e *Emulator) mode(mode string, on bool) {
	was := e.Modes[mode]
	e.Modes[mode] = on
	switch mode {
	case "?1049", "?47", "?1047":
		e.Modes["?1049"] = on
		if on != was {
			e.screen, e.other = e.other, e.screen
			if on {
				e.saved = e.Cursor
				e.screen.Clear()
			} else {
				e.moveTo(e.saved.Row, e.saved.Col)
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
func (e *Emulator) query(kind string, n int) {
	switch kind {
	case "c":
		e.reply("\x1b[?62;22c")
	case ">c":
		e.reply("\x1b[>1;10;0c")
	case ">q":
		e.reply("\x1bP>|terminaltest 1\x1b\\")
	case "n":
		if n == 6 {
			e.reply(fmt.Sprintf("\x1b[%d;%dR", e.Cursor.Row+1, e.Cursor.Col+1))
		} else if n == 5 {
			e.reply("\x1b[0n")
		}
	case "?$p":
		state := 0 // not known
		switch supported := n == 2026 && e.Marks || n == 2027 && e.Clusters; {
		case !supported:
		case e.Modes["?"+strconv.Itoa(n)]:
			state = 1
		default:
			state = 2
		}
		e.reply(fmt.Sprintf("\x1b[?%d;%d$y", n, state))
	case "?u":
		e.reply(fmt.Sprintf("\x1b[?%du", e.Keyboard()))
	case ">u":
		e.keyboard = append(e.keyboard, n)
	case "=u": // flags without a stack: 0 restores what was there before
		e.keyboard = e.keyboard[:0]
		if n != 0 {
			e.keyboard = append(e.keyboard, n)
		}
	case "<u":
		e.keyboard = e.keyboard[:max(len(e.keyboard)-max(n, 1), 0)]
	case "t":
		switch n {
		case 14:
			e.reply(fmt.Sprintf("\x1b[4;%d;%dt", e.Rows*16, e.Columns*8))
		case 18:
			e.reply(fmt.Sprintf("\x1b[8;%d;%dt", e.Rows, e.Columns))
		}
	}
}

// Keyboard is the flags of the kitty keyboard that are set, 0 for those of any terminal.
func (e *Emulator) Keyboard() int {
	if len(e.keyboard) == 0 {
		return 0
	}
	return e.keyboard[len(e.keyboard)-1]
}

// move takes a sequence that moves the cursor, by n or to n, from 1 on.
func (e *Emulator) move(kind string, n, second int) {
	row, col := e.Cursor.Row, e.Cursor.Col
	switch kind {
	case "A":
		e.moveTo(row-n, col)
	case "B", "e":
		e.moveTo(row+n, col)
	case "C", "a":
		e.moveTo(row, col+n)
	case "D":
		e.moveTo(row, col-n)
	case "E":
		e.moveTo(row+n, 0)
	case "F":
		e.moveTo(row-n, 0)
	case "G", "`":
		e.moveTo(row, n-1)
	case "d":
		e.moveTo(n-1, col)
	case "H", "f":
		e.moveTo(n-1, max(second, 1)-1)
	case "I":
		e.moveTo(row, (col/8+n)*8)
	case "Z":
		e.moveTo(row, (col+7)/8*8-8*n)
	case "s":
		e.saved = e.Cursor
	case "u":
		e.moveTo(e.saved.Row, e.saved.Col)
	case "r":
		if second == 0 {
			second = e.Rows
		}
		if e.top, e.bottom = n-1, min(second, e.Rows)-1; e.top >= e.bottom {
			e.top, e.bottom = 0, e.Rows-1
		}
		e.moveTo(0, 0)
	case "b":
		for ; n > 0 && e.last != ""; n-- {
			e.changes()
			e.write(e.last, e.screen.CellAt(e.lastCol, e.lastRow).Width)
		}
	}
}

// change takes a sequence that removes or moves text. n is its argument, at least 1; argument the
// same or 0.
func (e *Emulator) change(kind string, n, argument int) {
	row, col := e.Cursor.Row, e.Cursor.Col
	switch kind {
	case "J":
		switch {
		case argument > 1 || argument == 0 && row == 0 && col == 0:
			e.clear()
		case argument == 0:
			e.erase(row, col, e.Columns)
			e.screen.FillArea(e.blank(), uv.Rect(0, row+1, e.Columns, e.Rows-row-1))
		default:
			e.erase(row, 0, col+1)
			e.screen.FillArea(e.blank(), uv.Rect(0, 0, e.Columns, row))
		}
	case "K":
		switch argument {
		case 0:
			e.erase(row, col, e.Columns)
		case 1:
			e.erase(row, 0, col+1)
		default:
			e.erase(row, 0, e.Columns)
		}
	case "X":
		e.erase(row, col, min(col+n, e.Columns))
	case "P":
		e.shift(-n)
	case "@":
		e.shift(n)
	case "L", "M":
		if row < e.top || row > e.bottom {
			return
		}
		if kind == "L" {
			n = -n
		}
		e.scroll(row, n)
	case "S":
		e.scroll(e.top, n)
	case "T":
		e.scroll(e.top, -n)
	}
}

func (e *Emulator) erase(row, from, to int) {
	e.screen.FillArea(e.blank(), uv.Rect(from, row, to-from, 1))
}

// clear erases the complete screen.
func (e *Emulator) clear() {
	if strings.TrimSpace(e.Text()) != "" {
		e.Clears++
	}
	e.screen.Fill(e.blank())
}

func (e *Emulator) moveTo(row, col int) {
	e.Cursor.Row, e.Cursor.Col = max(0, min(row, e.Rows-1)), max(0, min(col, e.Columns-1))
	e.wraps = false
}
