package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/ralph-loop/ralph/render"
)

// screen is a terminal with the loop's output and, below it, a footer that is drawn in its place: what a tool prints,
// the status, and the line that a person types. Output goes above the footer at any time.
//
// Each change is one write, and rows are overwritten rather than cleared first, so that nothing flickers. A row of the
// footer is never wider than the terminal.
//
// Without a footer and a keyboard it is just the writer: byte for byte what was written.
type screen struct {
	mu      sync.Mutex
	free    sync.Cond
	out     io.Writer
	tty     *os.File // the keyboard
	before  *term.State
	color   bool
	draws   bool // the terminal can move its cursor
	columns int
	rows    int

	held   bool   // suspended: the output waits
	stops  bool   // the signal that lets this program go on after that has not come yet
	closed bool   // nothing is held any more
	prompt bool   // the typed line has its row also while it is empty
	part   []byte // the output's line that is not over

	tail   []string // what a tool printed last
	status string
	line   string // what is typed
	pos    int    // of the cursor in it, in bytes

	drawn  []int // columns of the footer's rows on the terminal
	cursor int   // the row of drawn in which the cursor stands
	column int   // and its column
	shown  string
}

func newScreen(out io.Writer) *screen {
	s := &screen{out: out, columns: 80, rows: 24}
	s.free.L = &s.mu
	return s
}

// The modes of a terminal that a screen turns on: pasted lines arrive as one text, not as a command each; a frame is
// shown when it is complete.
const (
	pasteOn, pasteOff = "\x1b[?2004h", "\x1b[?2004l"
	frameOn, frameOff = "\x1b[?2026h", "\x1b[?2026l"
)

// keyboard takes the terminal out of its line mode: keys come one by one, and this screen shows them.
func (s *screen) keyboard(stdin *os.File) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tty = stdin
	return s.take()
}

// take makes the terminal's keyboard ours, also again after a suspension. The lock is held.
func (s *screen) take() error {
	before, err := term.MakeRaw(int(s.tty.Fd()))
	if err != nil {
		return fmt.Errorf("prepare the terminal: %w", err)
	}
	if s.before == nil {
		s.before = before
	}
	_, err = io.WriteString(s.out, pasteOn)
	return err
}

// restore gives the terminal back as it was, without the footer and without what was typed and nobody has read. It may
// be called more than once.
func (s *screen) restore() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.tail, s.prompt, s.line = "", nil, false, ""
	_ = s.draw(nil, false) // where that fails the terminal is gone
	if s.before != nil {
		drainKeys(s.tty)
		s.giveBack()
		s.before, s.tty = nil, nil
	}
}

// giveBack leaves the modes in which the terminal was. The lock is held.
func (s *screen) giveBack() {
	_, _ = io.WriteString(s.out, pasteOff)
	_ = term.Restore(int(s.tty.Fd()), s.before)
}

// suspend gives the terminal to the shell until resume. Output waits for that.
func (s *screen) suspend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.before == nil || s.held {
		return
	}
	s.rewind()
	s.giveBack()
	s.held, s.stops = true, true
}

// continued is for the signal that lets a suspended program go on: the terminal is taken again, wherever its modes and its
// cursor are now.
func (s *screen) continued() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.held && !s.stops {
		s.drawn = nil // somebody else has stopped us, and the shell has written below the footer
	}
	s.stops = false
	s.resume()
}

// unstopped is for a program that was to be suspended and was not: no shell is there that could let it go on.
func (s *screen) unstopped() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held {
		s.resume()
	}
}

// resume takes the terminal again. The lock is held.
func (s *screen) resume() {
	if s.before == nil {
		return
	}
	s.held = false
	_ = s.take() // where that fails the terminal is gone, and the next read says so
	_ = s.draw(nil, true)
	s.free.Broadcast()
}

// rewind takes the footer off the terminal and ends the output's line. The lock is held.
func (s *screen) rewind() {
	out := s.top(nil)
	if len(s.drawn) > 0 {
		out = append(out, "\x1b[J"...)
	}
	if out = append(out, s.part...); len(s.part) > 0 {
		out = append(out, "\r\n"...)
	}
	_, _ = s.out.Write(out)
	s.drawn, s.part = nil, nil
}

// Write writes output above the footer.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.held && !s.closed {
		s.free.Wait()
	}
	if !s.draws && s.before == nil {
		return s.out.Write(p)
	}
	return len(p), s.draw(p, false)
}

// say writes one line of ralph's own, on a line of its own.
func (s *screen) say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.part) > 0 {
		text = "\n" + text
	}
	_ = s.draw([]byte(text+"\n"), false)
}

// typed shows the line as it has been typed so far, with its cursor.
func (s *screen) typed(line string, pos int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line, s.pos = line, pos
	s.update()
}

// footer is what stands below the output from now on. It is drawn with what is written next, else by refresh.
func (s *screen) footer(status string, tail []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.tail = status, tail
}

// refresh draws the footer where it has changed.
func (s *screen) refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.update()
}

func (s *screen) update() {
	if s.draws && !s.held {
		_ = s.draw(nil, false)
	}
}

// size takes on the size that the terminal has now.
func (s *screen) size(columns, rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if columns == s.columns && rows == s.rows {
		return
	}
	s.columns, s.rows = columns, rows
	if len(s.drawn) > 0 && !s.held {
		_ = s.draw(nil, true)
	}
}

// close lets the output through for good.
func (s *screen) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.free.Broadcast()
}

// draw writes output above the footer, and the footer. Where neither changes, nothing is written. wipe says that the
// terminal may have broken the rows differently. The lock is held.
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

// top moves from the cursor in the footer to the beginning of the output's line that is not over, which stands right
// above the footer. A terminal that has become narrower has broken rows in two.
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

// height is how many rows of the terminal so many columns take.
func (s *screen) height(columns int) int { return max((columns+s.columns-1)/s.columns, 1) }

// above adds the output, from the beginning of its line if the footer stood below it. In raw mode, a newline only goes
// down.
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

// below adds the rows of the footer, and clears what is left of the one before.
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

// layout is the footer as it is now: its rows, none wider than the terminal or in its last column, and the cursor.
func (s *screen) layout() (rows []string, cursor, column int) {
	room := s.columns - 1
	if !s.draws || room < 1 {
		return nil, 0, 0
	}
	height := s.rows - 1 // a row of the output is always seen
	typing := s.before != nil && (s.prompt || s.line != "")
	if typing {
		height--
	}
	if s.status != "" && height > 0 {
		height--
		for _, text := range s.tail[max(len(s.tail)-max(height, 0), 0):] {
			rows = append(rows, s.dim(render.Cut("  | "+text, room)))
		}
		rows = append(rows, s.dim(render.Cut(s.status, room)))
	}
	if !typing {
		return rows, max(len(rows)-1, 0), 0
	}
	text, at := window(s.line, s.pos, room-len(promptMark))
	rows = append(rows, render.Cut(promptMark+text, room))
	return rows, len(rows) - 1, min(len(promptMark)+at, room)
}

// promptMark stands before the typed line.
const promptMark = "> "

func (s *screen) dim(text string) string {
	if s.color {
		return "\x1b[2m" + text + "\x1b[0m"
	}
	return text
}

// window returns as much of a typed line as so many columns hold, with its cursor in view, and the cursor's column in
// it. What is longer shows what was typed last.
func window(line string, pos, room int) (text string, cursor int) {
	room = max(room, 1)
	before, after := render.Clean(line[:pos]), render.Clean(line[pos:])
	head := ending(before, room-min(beginning(after, room/3), room/3))
	cursor = render.Columns(head)
	if left := room - cursor; left > 0 && after != "" {
		return head + render.Cut(after, left), cursor
	}
	return head, cursor
}

// beginning is how many columns the beginning of a clean text takes, as far as that matters.
func beginning(text string, most int) (columns int) {
	for _, r := range text {
		if columns += render.Columns(string(r)); columns >= most {
			return most
		}
	}
	return columns
}

// ending returns as much of the end of a clean text as so many columns hold. It looks at no more than that: a
// whole log may have been pasted.
func ending(text string, columns int) string {
	from := len(text)
	for from > 0 {
		r, n := utf8.DecodeLastRuneInString(text[:from])
		if columns -= render.Columns(string(r)); columns < 0 {
			break
		}
		from -= n
	}
	return text[from:]
}

// wide is how many columns a row takes, whose only sequences are those of styles.
func wide(row string) int { return render.Columns(render.Clean(row)) }

// move adds the sequence that moves the cursor.
func move(out []byte, n int, direction byte) []byte {
	if n <= 0 {
		return out
	}
	return fmt.Appendf(out, "\x1b[%d%c", n, direction)
}
