package attach

import (
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// screen is a terminal with the loop's output and a footer below it: what a tool prints, the
// status, and the line that a person types. Output is written above the footer at any time.
//
// Each change is one write, and rows are overwritten rather than cleared first, so that nothing
// flickers. A row of the footer is never wider than the terminal.
//
// Without a footer and a keyboard, the output passes through byte for byte.
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
	stops  bool   // SIGCONT has not come yet since the suspension
	closed bool   // output does not wait any more
	prompt bool   // the typed line has a row also while it is empty
	part   []byte // the output's incomplete last line

	tail   []string // what a tool printed last
	status string
	line   string // what is typed
	pos    int    // of the cursor in it, in bytes

	drawn  []int // columns of the footer's rows on the terminal
	cursor int   // the row of drawn that has the cursor
	column int   // and its column
	shown  string
}

func newScreen(out io.Writer) *screen {
	s := &screen{out: out, columns: 80, rows: 24}
	s.free.L = &s.mu
	return s
}

// The modes of a terminal that a screen turns on: pasted lines arrive as one text, not as a command
// each; a frame is shown when it is complete.
const (
	pasteOn, pasteOff = "\x1b[?2004h", "\x1b[?2004l"
	frameOn, frameOff = "\x1b[?2026h", "\x1b[?2026l"
)

// keyboard takes the terminal out of its line mode: keys come one by one, and this screen shows
// them.
func (s *screen) keyboard(stdin *os.File) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tty = stdin
	return s.take()
}

// take sets the terminal's modes, at first and after a suspension. The lock is held.
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

// restore returns the terminal to its former modes, removes the footer and discards typed input
// that was not read. It may be called more than once.
func (s *screen) restore() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.tail, s.prompt, s.line = "", nil, false, ""
	_ = s.draw(nil, false) // fails only if the terminal is gone
	if s.before != nil {
		drainKeys(s.tty)
		s.giveBack()
		s.before, s.tty = nil, nil
	}
}

// giveBack returns the terminal to its former modes. The lock is held.
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

// continued handles SIGCONT: it takes the terminal again, whatever its modes and its cursor are
// now.
func (s *screen) continued() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.held && !s.stops {
		s.drawn = nil // another process stopped this one, and the shell has written below the footer
	}
	s.stops = false
	s.resume()
}

// unstopped takes the terminal again if the program was not suspended, because no shell controls
// it.
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

// rewind removes the footer and ends the output's line. The lock is held.
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

// say writes a line that is not the loop's, on a row of its own.
func (s *screen) say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.part) > 0 {
		text = "\n" + text
	}
	_ = s.draw([]byte(text+"\n"), false)
}

// typed shows the typed line, with its cursor.
func (s *screen) typed(line string, pos int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line, s.pos = line, pos
	s.update()
}

// footer sets the status and the tail below the output. They are drawn with the next output, or by
// refresh.
func (s *screen) footer(status string, tail []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.tail = status, tail
}

// refresh draws the footer if it has changed.
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

// size sets the size of the terminal.
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

// close lets the output pass also during a suspension, from now on.
func (s *screen) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.free.Broadcast()
}
