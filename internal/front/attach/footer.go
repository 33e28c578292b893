package attach

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/render"
)

// draw writes output above the footer, and the footer. If neither changes, nothing is written. wipe
// says that the terminal may have wrapped the rows differently. The lock is held.
func (s *screen) draw(output []byte, wipe bool) error {
	rows, cursor, column := s.layout()
	shown := strings.Join(rows, "\n")
	if len(output) == 0 && !wipe && shown == s.shown && len(rows) == len(s.drawn) && cursor == s.cursor && column == s.column {
		return nil
	}
	var out []byte
	if s.draws && len(rows)+len(s.drawn) > 0 {
		out = append(out, frameOn...)
	}
	out = s.top(out)
	if wipe || len(rows) == 0 && len(s.drawn) > 0 {
		out = append(out, "\x1b[J"...)
	}
	out = s.above(out, output)
	out, s.drawn = s.below(out, rows), s.drawn[:0]
	for _, row := range rows {
		s.drawn = append(s.drawn, wide(row))
	}
	if s.cursor, s.column, s.shown = cursor, column, shown; len(rows) > 0 {
		out = append(move(out, len(rows)-1-cursor, 'A'), '\r')
		out = move(out, column, 'C')
	}
	if bytes.HasPrefix(out, []byte(frameOn)) {
		out = append(out, frameOff...)
	}
	_, err := s.out.Write(out)
	return err
}

// top moves from the cursor in the footer to the beginning of the output's incomplete line, right
// above the footer. A terminal that has become narrower has wrapped rows.
func (s *screen) top(out []byte) []byte {
	if len(s.drawn) == 0 {
		return out
	}
	up := s.column / s.columns
	for _, columns := range s.drawn[:s.cursor] {
		up += s.height(columns)
	}
	if len(s.part) > 0 {
		up += s.height(wide(string(s.part)))
	}
	return move(append(out, '\r'), up, 'A')
}

// height is the number of terminal rows that so many columns take.
func (s *screen) height(columns int) int { return max((columns+s.columns-1)/s.columns, 1) }

// above adds the output, from the beginning of its line if there was a footer below it. In raw
// mode, a newline does not return to the first column.
func (s *screen) above(out, output []byte) []byte {
	newline := "\n"
	if s.before != nil {
		newline = "\r\n"
	}
	if len(s.drawn) > 0 {
		newline = "\r\n\x1b[K"
		if len(s.part) > 0 {
			out = append(out, s.part...)
		} else {
			out = append(out, "\x1b[K"...)
		}
	}
	out = append(out, bytes.ReplaceAll(output, []byte("\n"), []byte(newline))...)
	if at := bytes.LastIndexByte(output, '\n'); at >= 0 {
		s.part = append(s.part[:0], output[at+1:]...)
	} else {
		s.part = append(s.part, output...)
	}
	if wide(string(s.part)) == 0 {
		s.part = s.part[:0] // the end of a style that the line above had
	}
	return out
}

// below adds the rows of the footer, and clears the rest of the footer before.
func (s *screen) below(out []byte, rows []string) []byte {
	if len(rows) > 0 && len(s.part) > 0 {
		out = append(out, "\r\n"...)
	}
	for i, row := range rows {
		if i > 0 {
			out = append(out, "\r\n"...)
		}
		out = append(append(out, row...), "\x1b[K"...)
	}
	if len(rows) > 0 && len(s.drawn) > len(rows) {
		out = append(out, "\x1b[J"...)
	}
	return out
}

// layout returns the rows of the footer, which do not reach the terminal's last column, and the
// cursor.
func (s *screen) layout() (rows []string, cursor, column int) {
	room := s.columns - 1
	if !s.draws || room < 1 {
		return nil, 0, 0
	}
	height := s.rows - 1 // a row of the output is always visible
	typing := s.before != nil && (s.prompt || s.line != "")
	if typing {
		height--
	}
	if s.status != "" && height > 0 {
		height--
		for _, text := range s.tail[max(len(s.tail)-max(height, 0), 0):] {
			rows = append(rows, dim(render.Cut("  | "+text, room), s.color))
		}
		rows = append(rows, dim(render.Cut(s.status, room), s.color))
	}
	if !typing {
		return rows, max(len(rows)-1, 0), 0
	}
	text, at := window(s.line, s.pos, room-len(promptMark))
	rows = append(rows, render.Cut(promptMark+text, room))
	return rows, len(rows) - 1, min(len(promptMark)+at, room)
}

// promptMark precedes the typed line.
const promptMark = "> "

// window returns the part of a typed line around its cursor that fits in so many columns, and the
// cursor's column in it.
func window(line string, pos, room int) (text string, cursor int) {
	room = max(room, 1)
	before, after := render.Clean(line[:pos]), render.Clean(line[pos:])
	head := render.Ending(before, room-min(beginning(after, room/3), room/3))
	cursor = render.Columns(head)
	if left := room - cursor; left > 0 && after != "" {
		return head + render.Cut(after, left), cursor
	}
	return head, cursor
}

// beginning returns the number of columns that a clean text takes, at most the given number.
func beginning(text string, most int) (columns int) {
	for _, r := range text {
		if columns += render.Columns(string(r)); columns >= most {
			return most
		}
	}
	return columns
}

// wide returns the columns of a row that has no escape sequences except for styles.
func wide(row string) int { return render.Columns(render.Clean(row)) }

// move adds the sequence that moves the cursor n rows or columns.
func move(out []byte, n int, direction byte) []byte {
	if n <= 0 {
		return out
	}
	return fmt.Appendf(out, "\x1b[%d%c", n, direction)
}
