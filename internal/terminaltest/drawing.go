package terminaltest

import (
	"strconv"
	"strings"
)

// draw takes a control sequence that moves the cursor or changes the screen.
func (e *Emulator) draw(final byte, body string) {
	n := max(first(body), 1)
	row, col := e.Cursor.Row, e.Cursor.Col
	switch final {
	case 'A':
		e.moveTo(row-n, col)
	case 'B', 'e':
		e.moveTo(row+n, col)
	case 'C', 'a':
		e.moveTo(row, col+n)
	case 'D':
		e.moveTo(row, col-n)
	case 'E':
		e.moveTo(row+n, 0)
	case 'F':
		e.moveTo(row-n, 0)
	case 'G', '`':
		e.moveTo(row, n-1)
	case 'd':
		e.moveTo(n-1, col)
	case 'H', 'f':
		_, second, _ := strings.Cut(body, ";")
		column, _ := strconv.Atoi(second)
		e.moveTo(n-1, max(column, 1)-1)
	case 'I':
		for range n {
			e.moveTo(row, e.Cursor.Col/8*8+8)
		}
	case 'Z':
		for range n {
			e.moveTo(row, (e.Cursor.Col-1)/8*8)
		}
	case 's':
		e.saved.row, e.saved.col = row, col
	case 'u':
		e.moveTo(e.saved.row, e.saved.col)
	case 'r':
		e.region(body)
	case 'b':
		for range n {
			if e.last != "" {
				e.changes()
				e.write(e.last, e.lastWidth())
			}
		}
	default:
		e.change(final, n, first(body))
	}
}

// change takes a control sequence that removes or moves text. n is its argument, at least 1;
// argument the same or 0.
func (e *Emulator) change(final byte, n, argument int) {
	row := e.rows[e.Cursor.Row]
	col := e.Cursor.Col
	switch final {
	case 'J', 'K', 'X', 'P', '@', 'L', 'M', 'S', 'T':
		e.changes()
		e.wraps = false
	default:
		return
	}
	switch final {
	case 'J':
		e.eraseScreen(argument)
	case 'K':
		switch argument {
		case 0:
			e.split(row, col)
			e.erase(row[col:])
		case 1:
			e.split(row, col)
			e.erase(row[:col+1])
		default:
			e.erase(row)
		}
	case 'X':
		end := min(col+n, e.Columns)
		e.split(row, col)
		e.split(row, end-1)
		e.erase(row[col:end])
	case 'P':
		e.split(row, col)
		n = min(n, e.Columns-col)
		copy(row[col:], row[col+n:])
		e.erase(row[e.Columns-n:])
	case '@':
		e.split(row, col)
		e.insert(n)
	case 'L', 'M':
		if e.Cursor.Row < e.top || e.Cursor.Row > e.bottom {
			return
		}
		if final == 'L' {
			n = -n
		}
		e.scroll(e.Cursor.Row, n)
	case 'S':
		e.scroll(e.top, n)
	case 'T':
		e.scroll(e.top, -n)
	}
}

func (e *Emulator) eraseScreen(argument int) {
	row, col := e.Cursor.Row, e.Cursor.Col
	switch argument {
	case 0:
		if row == 0 && col == 0 {
			e.cleared(e.rows...)
			return
		}
		e.erase(e.rows[row][col:])
		for _, below := range e.rows[row+1:] {
			e.erase(below)
		}
	case 1:
		e.erase(e.rows[row][:col+1])
		for _, above := range e.rows[:row] {
			e.erase(above)
		}
	default:
		e.cleared(e.rows...)
	}
}

// cleared erases the complete screen.
func (e *Emulator) cleared(rows ...[]cell) {
	if !e.isBlank() {
		e.Clears++
	}
	for _, row := range rows {
		e.erase(row)
	}
}

func (e *Emulator) region(body string) {
	top, bottom, _ := strings.Cut(body, ";")
	first, _ := strconv.Atoi(top)
	last, _ := strconv.Atoi(bottom)
	if last == 0 || last > e.Rows {
		last = e.Rows
	}
	e.top, e.bottom = max(first, 1)-1, last-1
	if e.top >= e.bottom {
		e.top, e.bottom = 0, e.Rows-1
	}
	e.moveTo(0, 0)
}

func (e *Emulator) moveTo(row, col int) {
	e.Cursor.Row, e.Cursor.Col = max(0, min(row, e.Rows-1)), max(0, min(col, e.Columns-1))
	e.wraps = false
}

// lastWidth is how many columns the last character takes.
func (e *Emulator) lastWidth() int {
	if e.rows[e.lastRow][e.lastCol].wide {
		return 2
	}
	return 1
}
