package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/ralph-loop/ralph/render"
)

// screen is a terminal that two write to: the loop's output and the person who
// types. They take turns. While a line is being typed the output waits; it waits in
// the journal, since whoever writes here reads from there, so nothing is lost and
// nothing piles up. When the line is sent or taken back the output catches up.
// A line that nobody goes on with is put aside for the output after a while,
// and shows again with the next key.
//
// Without a keyboard it is just the writer.
type screen struct {
	mu      sync.Mutex
	free    sync.Cond
	out     io.Writer
	keys    bool
	columns int
	typing  bool // a typed line is on the screen, and the output waits
	midline bool // the output stands within a line
	closed  bool // nobody types any more
	aside   *time.Timer
}

// patience is how long the output waits for the next key.
const patience = 20 * time.Second

func newScreen(out io.Writer) *screen {
	s := &screen{out: out, columns: 80}
	s.free.L = &s.mu
	return s
}

// keyboard takes the terminal out of its line mode: keys come one by one, and
// this screen shows them. restore gives it back.
func (s *screen) keyboard(stdin *os.File) (restore func(), err error) {
	before, err := term.MakeRaw(int(stdin.Fd()))
	if err != nil {
		return nil, fmt.Errorf("prepare the terminal: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = true
	s.aside = time.AfterFunc(patience, s.putAside)
	s.aside.Stop()
	// Lines that are pasted arrive as one text, not as a command each.
	_, err = io.WriteString(s.out, "\x1b[?2004h")
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.keys = false
		_, _ = io.WriteString(s.out, "\x1b[?2004l")
		_ = term.Restore(int(stdin.Fd()), before)
	}, err
}

// Write writes output, once nobody types.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.typing && !s.closed {
		s.free.Wait()
	}
	return len(p), s.put(p)
}

// put writes to the terminal. In raw mode a newline only goes down.
func (s *screen) put(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	s.midline = p[len(p)-1] != '\n'
	if s.keys {
		p = bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))
	}
	_, err := s.out.Write(p)
	return err
}

// say writes one line of ralph's own, on a line of its own.
func (s *screen) say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	if s.midline {
		_ = s.put([]byte("\n"))
	}
	_ = s.put([]byte(text + "\n"))
}

// typed shows the line as it has been typed so far; an empty one gives the screen
// back to the output.
func (s *screen) typed(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if line == "" || s.closed {
		s.erase()
		return
	}
	if !s.typing && s.midline {
		_ = s.put([]byte("\n"))
	}
	s.typing = true
	s.aside.Reset(patience)
	// All on one line of the terminal: what is longer shows its end.
	_, _ = io.WriteString(s.out, "\r\x1b[K> "+ending(render.Clean(line), s.columns-4))
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

// erase takes the typed line off the screen. The lock is held.
func (s *screen) erase() {
	if !s.typing {
		return
	}
	s.typing = false
	s.aside.Stop()
	_, _ = io.WriteString(s.out, "\r\x1b[K")
	s.free.Broadcast()
}

func (s *screen) putAside() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
}

func (s *screen) setColumns(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.columns = n
}

// close lets the output through for good.
func (s *screen) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.erase()
	s.free.Broadcast()
}
