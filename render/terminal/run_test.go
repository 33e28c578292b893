//go:build unix

package terminal

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/creack/pty"
	"golang.org/x/term"
)

// keys is a model that shows the keys that were typed, and ends or panics on some.
type keys struct {
	typed  string
	theme  Theme
	breaks bool // the view panics
}

func (k *keys) Init() tea.Cmd { return nil }
func (k *keys) State() State  { return State{Title: "keys", Status: StatusWorking} }

func (k *keys) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case ThemeMsg:
		k.theme = msg.Theme
	case tea.KeyPressMsg:
		switch msg.String() {
		case "q":
			return tea.Quit
		case "p":
			panic("on purpose")
		case "c":
			return func() tea.Msg { panic("on purpose") }
		case "b":
			return tea.Batch(func() tea.Msg { return nil }, func() tea.Msg { panic("on purpose") })
		case "v":
			k.breaks = true
			return nil
		}
		k.typed += msg.String()
	}
	return nil
}

func (k *keys) View() tea.View {
	if k.breaks {
		panic("on purpose")
	}
	return tea.NewView("typed: " + k.typed)
}

// A console is the terminal that a program runs on: it answers as one does.
type console struct {
	t             *testing.T
	master, slave *os.File
	mu            sync.Mutex
	written       bytes.Buffer
	changed       chan struct{}
	ended         chan error
}

// start runs a model on a terminal that supports synchronized output.
func start(t *testing.T, m Model, environ ...string) *console {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	_ = pty.Setsize(master, &pty.Winsize{Rows: 10, Cols: 40})
	c := &console{t: t, master: master, slave: slave, changed: make(chan struct{}, 1), ended: make(chan error, 1)}
	t.Cleanup(func() { _ = master.Close(); _ = slave.Close() })
	go c.answer()
	go func() {
		all := Show{Title: true, Progress: true, Status: true, Notify: true}
		c.ended <- Run(m, Options{In: slave, Out: slave, Environ: append(environ, "TERM=xterm-256color"), Show: all})
	}()
	return c
}

func (c *console) answer() {
	buf := make([]byte, 4096)
	for {
		n, err := c.master.Read(buf)
		if err != nil {
			return
		}
		c.mu.Lock()
		c.written.Write(buf[:n])
		c.mu.Unlock()
		if bytes.Contains(buf[:n], []byte("\x1b[?2026$p")) {
			_, _ = c.master.WriteString("\x1b[?2026;2$y")
		}
		select {
		case c.changed <- struct{}{}:
		default:
		}
	}
}

func (c *console) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.written.String()
}

// sees waits until the program has written a text.
func (c *console) sees(text string) {
	c.t.Helper()
	for !strings.Contains(c.text(), text) {
		select {
		case <-c.changed:
		case err := <-c.ended:
			c.t.Fatalf("ended with %v before %q, after %q", err, text, c.text())
		case <-c.t.Context().Done():
			c.t.Fatalf("no %q in %q", text, c.text())
		}
	}
}

// panicked reports whether an error says what panicked, and where.
func panicked(err error) bool {
	p, ok := errors.AsType[*PanicError](err)
	return ok && p.Value == "on purpose" && strings.Contains(p.Error(), "run_test.go") && p.Hint() != ""
}

func TestRunRestoresTerminal(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(*console)
		want func(error) bool
	}{
		{"quit", func(c *console) { _, _ = c.master.WriteString("q") }, func(err error) bool { return err == nil }},
		{"panic", func(c *console) { _, _ = c.master.WriteString("p") }, panicked},
		{"panic in a command", func(c *console) { _, _ = c.master.WriteString("c") }, panicked},
		{"panic in a batch", func(c *console) { _, _ = c.master.WriteString("b") }, panicked},
		{"panic of the view", func(c *console) { _, _ = c.master.WriteString("v") }, panicked},
		{"signal", func(*console) { _ = syscall.Kill(os.Getpid(), syscall.SIGHUP) }, func(err error) bool {
			s, ok := errors.AsType[*SignalError](err)
			return ok && s.Signal == syscall.SIGHUP
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := start(t, &keys{})
			before, err := term.GetState(int(c.slave.Fd()))
			if err != nil {
				t.Fatal(err)
			}
			c.sees("typed:")
			_, _ = c.master.WriteString("x")
			c.sees("x")
			tt.end(c)
			if err := <-c.ended; !tt.want(err) {
				t.Errorf("ended with %v", err)
			}
			after, err := term.GetState(int(c.slave.Fd()))
			if err != nil || *after != *before {
				t.Errorf("modes %+v, before %+v (%v)", after, before, err)
			}
			c.sees("\x1b[?1049l")
			c.sees("state=clear")
		})
	}
}

// Bubble Tea does not ask for synchronized output where SSH_TTY is set; this package does.
func TestFramesAreMarkedOverSSH(t *testing.T) {
	c := start(t, &keys{}, "SSH_TTY=/dev/pts/1")
	c.sees("\x1b[?2026$p")
	c.sees("typed:")
	_, _ = c.master.WriteString("xy")
	c.sees("\x1b[?2026h")
	_, _ = c.master.WriteString("q")
	if err := <-c.ended; err != nil {
		t.Error(err)
	}
	if on, off := strings.Count(c.text(), "\x1b[?2026h"), strings.Count(c.text(), "\x1b[?2026l"); on == 0 || on != off {
		t.Errorf("%d frames begin and %d end", on, off)
	}
}
