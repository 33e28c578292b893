//go:build unix

package terminaltest

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// A Session is a program in a pseudo-terminal, and the person before it. Everything that the
// program writes is recorded with its time. Its methods may be called from any goroutine.
type Session struct {
	Cmd    *exec.Cmd
	Began  time.Time
	master *os.File
	done   chan struct{} // closed when the program has ended
	read   chan struct{} // closed when the terminal has nothing more to read

	mu      sync.Mutex
	screen  *Emulator
	chunks  []Chunk
	changed chan struct{} // closed and replaced when something was written
}

// A Chunk is what one read of the terminal returned.
type Chunk struct {
	At   time.Time
	Data []byte
}

// hangup gives programs the default action of SIGHUP also under nohup, which has all that it starts
// ignore it: a signal that this process receives is not ignored in the programs that it starts.
var hangup = sync.OnceFunc(func() { signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) })

// Start runs a program in a new session whose terminal it is. End has to be called.
func Start(cmd *exec.Cmd, o Options) (*Session, error) {
	hangup()
	s := &Session{Cmd: cmd, done: make(chan struct{}), read: make(chan struct{}), changed: make(chan struct{})}
	o.Reply = func(answer string) { _, _ = s.master.WriteString(answer) }
	s.screen = NewEmulator(o)
	s.Began = time.Now()
	master, err := pty.StartWithSize(cmd, size(o.Columns, o.Rows))
	if err != nil {
		return nil, fmt.Errorf("start %s in a terminal: %w", cmd.Path, err)
	}
	if s.master, err = closable(master); err != nil {
		return nil, err
	}
	go s.record()
	go func() {
		_ = cmd.Wait() // the exit code is read from its state
		close(s.done)
	}()
	return s, nil
}

func size(columns, rows int) *pty.Winsize {
	return &pty.Winsize{Rows: uint16(rows), Cols: uint16(columns)}
}

// closable returns the same terminal as a file whose Close ends a Read that waits, and thereby
// closes the terminal. It is closed in programs that are started meanwhile.
func closable(master *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(master.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("duplicate the terminal: %w", err)
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil, fmt.Errorf("duplicate the terminal: %w", err)
	}
	return os.NewFile(uintptr(fd), "terminal"), master.Close()
}

func (s *Session) record() {
	defer close(s.read)
	buf := make([]byte, 64<<10)
	for {
		n, err := s.master.Read(buf)
		s.mu.Lock()
		s.chunks = append(s.chunks, Chunk{time.Now(), append([]byte(nil), buf[:n]...)})
		_, _ = s.screen.Write(buf[:n])
		close(s.changed)
		s.changed = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return // EIO: the last program has left the terminal
		}
	}
}

// Look calls a function with the screen, which must not be used afterwards.
func (s *Session) Look(look func(*Emulator)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	look(s.screen)
}

// Text is the text on the screen.
func (s *Session) Text() (text string) {
	s.Look(func(e *Emulator) { text = e.Text() })
	return text
}

// Type types keys, and returns when that was.
func (s *Session) Type(keys string) (time.Time, error) {
	at := time.Now()
	_, err := s.master.WriteString(keys)
	return at, err
}

// Resize gives the terminal another size, and the program the signal of that.
func (s *Session) Resize(columns, rows int) error {
	s.mu.Lock()
	s.screen.Resize(columns, rows)
	s.mu.Unlock()
	return pty.Setsize(s.master, size(columns, rows))
}

// Await waits until a condition of the screen holds, and returns when what made it hold was read.
func (s *Session) Await(within time.Duration, holds func(*Emulator) bool) (time.Time, error) {
	late := time.After(within)
	for {
		s.mu.Lock()
		ok, changed, text := holds(s.screen), s.changed, ""
		at := s.Began
		if len(s.chunks) > 0 {
			at = s.chunks[len(s.chunks)-1].At
		}
		if !ok {
			text = s.screen.Text()
		}
		s.mu.Unlock()
		if ok {
			return at, nil
		}
		select {
		case <-changed:
		case <-s.read:
			if s.holdsNow(holds) {
				return at, nil
			}
			return at, fmt.Errorf("the program has left the terminal, which shows:\n%s", text)
		case <-late:
			return at, fmt.Errorf("after %s the terminal shows:\n%s", within, text)
		}
	}
}

func (s *Session) holdsNow(holds func(*Emulator) bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return holds(s.screen)
}

// Sees waits until the screen shows a text.
func (s *Session) Sees(text string, within time.Duration) (time.Time, error) {
	at, err := s.Await(within, func(e *Emulator) bool { return strings.Contains(e.Text(), text) })
	if err != nil {
		err = fmt.Errorf("no %q: %w", text, err)
	}
	return at, err
}

// Quiet waits until nothing was written for so long.
func (s *Session) Quiet(period, within time.Duration) error {
	late := time.After(within)
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-s.read:
			return nil
		case <-time.After(period):
			return nil
		case <-late:
			return fmt.Errorf("the program writes without a pause of %s:\n%s", period, s.Text())
		}
	}
}

// Written is everything that was written from a time on; the zero Time is the beginning.
func (s *Session) Written(from time.Time) []Chunk {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, c := range s.chunks {
		if !c.At.Before(from) {
			return append([]Chunk(nil), s.chunks[i:]...)
		}
	}
	return nil
}

// Bytes is how much was written from a time on.
func (s *Session) Bytes(from time.Time) (n int) {
	for _, c := range s.Written(from) {
		n += len(c.Data)
	}
	return n
}

// Disconnect closes the terminal, as a lost connection does.
func (s *Session) Disconnect() error { return s.master.Close() }

// Ended waits for the end of the program, and returns its exit code, -1 after a signal.
func (s *Session) Ended(within time.Duration) (int, error) {
	select {
	case <-s.done:
		return s.Cmd.ProcessState.ExitCode(), nil
	case <-time.After(within):
		return 0, fmt.Errorf("%s does not end: %s", s.Cmd.Path, s.Text())
	}
}

// End kills the program if it runs, and waits for it.
func (s *Session) End() {
	_ = s.Cmd.Process.Kill()
	<-s.done
	_ = s.master.Close() // for a second time after Disconnect
	<-s.read
}
