//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/testkit/terminaltest"
	"github.com/ralph-loop/ralph/journal/event"
)

// terminal is a program that runs in a terminal of its own, and the person before it.
type terminal struct {
	*place
	cmd    *exec.Cmd
	master *os.File
	done   chan struct{} // closed when the program has ended
	code   int           // once done is closed

	mu    sync.Mutex
	shown strings.Builder
	more  chan struct{} // something was shown
}

const terminalRows, terminalColumns = 24, 100

// terminal runs a program in a new session whose terminal it is.
func (p *place) terminal(cmd *exec.Cmd) *terminal {
	p.Helper()
	cmd.Env = append(cmd.Env, "TERM=xterm")
	master, slave, err := pty.Open()
	p.must(err)
	p.must(pty.Setsize(master, &pty.Winsize{Rows: terminalRows, Cols: terminalColumns}))
	// Else ctrl-c also discards what the program answered to it before the discarding began.
	keep := exec.Command("stty", "noflsh")
	keep.Stdin = slave
	p.must(keep.Run())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid, cmd.SysProcAttr.Setctty = true, true
	p.must(cmd.Start())
	p.must(slave.Close())
	t := &terminal{place: p, cmd: cmd, master: p.closable(master), done: make(chan struct{}), more: make(chan struct{}, 1)}
	var reader sync.WaitGroup
	reader.Go(t.read)
	go func() {
		_ = cmd.Wait() // the exit code is read from its state
		t.code = cmd.ProcessState.ExitCode()
		close(t.done)
	}()
	p.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-t.done
		_ = master.Close() // for a second time, if the test closed it
		reader.Wait()
	})
	return t
}

// closable returns the same terminal as a file whose Close ends a Read that waits, and
// thereby closes the terminal.
func (p *place) closable(master *os.File) *os.File {
	// Close-on-exec: else every program that a test starts meanwhile inherits it.
	fd, err := unix.FcntlInt(master.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	p.must(err)
	p.must(syscall.SetNonblock(fd, true))
	p.must(master.Close())
	return os.NewFile(uintptr(fd), "terminal")
}

func (t *terminal) read() {
	buf := make([]byte, 4096)
	for {
		n, err := t.master.Read(buf)
		t.mu.Lock()
		t.shown.Write(buf[:n])
		t.mu.Unlock()
		select {
		case t.more <- struct{}{}:
		default:
		}
		if err != nil {
			return // EIO: the last program has left the terminal
		}
	}
}

func (t *terminal) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shown.String()
}

// sees waits until the program has written a text.
func (t *terminal) sees(text string) {
	t.Helper()
	t.waits(text, t.text)
}

// shows waits until the screen has a text, however the program has drawn it.
func (t *terminal) shows(text string) {
	t.Helper()
	t.waits(text, func() string {
		e := terminaltest.NewEmulator(terminaltest.Options{Columns: terminalColumns, Rows: terminalRows})
		_, err := e.Write([]byte(t.text()))
		t.must(err)
		return e.Text()
	})
}

func (t *terminal) waits(text string, where func() string) {
	t.Helper()
	late := time.After(patience)
	for !strings.Contains(where(), text) {
		select {
		case <-t.more:
		case <-late:
			t.Fatalf("%v does not show %q:\n%q", t.cmd.Args, text, where())
		}
	}
}

func (t *terminal) types(keys string) {
	t.Helper()
	_, err := t.master.WriteString(keys)
	t.must(err)
}

// leaves waits for the end of the program and checks its exit code.
func (t *terminal) leaves(code int) {
	t.Helper()
	select {
	case <-t.done:
	case <-time.After(patience):
		t.Fatalf("%v does not end:\n%q", t.cmd.Args, t.text())
	}
	if t.code != code {
		t.Errorf("%v: exit %d, not %d:\n%q", t.cmd.Args, t.code, code, t.text())
	}
}

// Keys.
const (
	ctrlC = "\x03"
	ctrlD = "\x04"
	enter = "\r"
)

// rehearsed starts a detached loop that listens.
func (p *place) rehearsed(name string) {
	p.Helper()
	scenario := filepath.Join(p.dir, "listen.rehearsal")
	p.must(os.WriteFile(scenario, []byte("iteration\n  say I am working.\n  silence\n  steered -> say I heard you: {steer}\n"), 0o600))
	p.fine("start", name, "--detach", "-p", "x", "--agent", "ralph rehearse "+scenario, "--protocol", "rehearsal")
}

func (p *place) status(name string) string {
	p.Helper()
	s, err := loopstate.Open(p.loop(name))
	p.must(err)
	return s.Status().String()
}

// Closing the terminal ends 'ralph start', but not its loop.
func TestLoopOutlivesItsTerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	agent := p.script("agent.sh", "cat > /dev/null\necho $$ > pid\necho I am working\nsleep 300\n")
	start := p.terminal(p.command("start", "one", "--plain", "-p", "x", "--agent", agent, "--protocol", "text"))
	start.sees("I am working")
	p.must(start.master.Close())
	select {
	case <-start.done:
	case <-time.After(patience):
		t.Error("ralph start outlives its terminal")
	}
	if p.dead("one") || p.status("one") != "running" || !p.alive("pid") {
		t.Error("the loop has ended with the terminal")
	}
	again := p.terminal(p.command("attach", "one", "--plain"))
	again.sees("I am working")
	again.types(ctrlC)
	again.leaves(event.ExitInterrupted)
}

// In a terminal, start makes the template as elsewhere and asks nothing: a task is written in an
// editor.
func TestStartAsksForTask(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	start := p.terminal(p.command("start", "one", "--plain", "--agent", "true", "--protocol", "text"))
	start.sees("there is no task yet: .ralph/one/task.md is made from the template")
	start.leaves(2)
	p.must(os.WriteFile(filepath.Join(p.loop("one"), "task.md"), []byte("mine"), 0o600))
	again := p.terminal(p.command("start", "one", "--plain", "--agent", "true", "--protocol", "text", "-m", "1"))
	again.sees("iteration 1")
	again.leaves(1)
	kept, err := os.ReadFile(filepath.Join(p.loop("one"), "task.md"))
	if p.must(err); string(kept) != "mine" {
		t.Errorf("task.md is now %q", kept)
	}
}

// The shell that a loop was started from is killed, and its terminal is gone.
func TestLoopOutlivesItsShell(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	agent := p.script("agent.sh", "cat > /dev/null\necho $$ > pid\nsleep 300\n")
	cmd := p.command()
	cmd.Path, cmd.Err = "/bin/sh", nil
	cmd.Args = []string{"sh", "-c", "ralph start one --detach -p x --agent " + agent + " --protocol text; echo started; read wait"}
	shell := p.terminal(cmd)
	shell.sees("started")
	p.must(shell.cmd.Process.Kill())
	<-shell.done
	p.must(shell.master.Close())
	p.written("pid")
	if p.dead("one") || p.status("one") != "running" || !p.alive("pid") {
		t.Error("the loop has ended with the shell")
	}
}

// Closing the terminal leaves a loop, as ctrl-c does.
func TestAttachEndsWithItsTerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.rehearsed("one")
	attach := p.terminal(p.command("attach", "one", "--plain"))
	attach.sees("I am working.")
	p.must(attach.master.Close())
	select {
	case <-attach.done:
	case <-time.After(patience):
		t.Error("attach outlives its terminal")
	}
	if p.dead("one") {
		t.Error("the loop has ended with the terminal")
	}
}

// What a person sends from another terminal, and its outcome, is shown on each that is attached.
func TestTwoAttach(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.rehearsed("one")
	all := []*terminal{p.terminal(p.command("attach", "one", "--plain")), p.terminal(p.command("attach", "one", "--plain"))}
	for _, attach := range all {
		attach.sees("I am working.")
	}
	p.fine("steer", "one", "use the other branch")
	for _, attach := range all {
		attach.sees("I heard you: use the other branch")
		attach.sees("delivered")
	}
	p.fine("stop", "one", "--now")
	for _, attach := range all {
		attach.leaves(event.ExitInterrupted)
		attach.sees("stop: a person stopped")
	}
}

// In the foreground the first ctrl-c lets the iteration finish, the second ends it; both
// are exit code 130.
func TestRunIsInterrupted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		again   bool
		outcome string
	}{
		{"once: the iteration is finished", false, `"outcome":"done"`},
		{"twice: the iteration is cut short", true, `"outcome":"aborted"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			agent := p.script("agent.sh", "cat > /dev/null\necho $$ > pid\necho I am working\nuntil test -e go; do sleep 0.01; done\necho I am done\n")
			run := p.terminal(p.command("run", "-p", "x", "--agent", agent, "--protocol", "text"))
			run.sees("I am working")
			run.types(ctrlC)
			run.sees("Received signal, shutting down...")
			p.until("the loop to be stopping", func() bool { return p.status("run") == "stopping" })
			if tt.again {
				run.types(ctrlC)
				run.sees("Received a second signal, stopping the agent now...")
			} else {
				p.must(os.WriteFile(filepath.Join(p.dir, "go"), nil, 0o600))
				run.sees("I am done")
			}
			run.leaves(event.ExitInterrupted)
			if p.alive("pid") {
				t.Error("the agent is alive")
			}
			if ended := p.fine("logs", "run", "--json", "--type", "iteration.ended"); !strings.Contains(ended, tt.outcome) {
				t.Errorf("not %s:\n%s", tt.outcome, ended)
			}
		})
	}
}

// Killing a run in the foreground ends its agent as well. A detached runner can resume the loop.
func TestRunIsKilled(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	agent := p.script("agent.sh", "cat > /dev/null\necho $$ > pid\necho I am working\nexec sleep 300\n")
	run := p.terminal(p.command("run", "-p", "x", "--agent", agent, "--protocol", "text"))
	run.sees("I am working")
	p.must(run.cmd.Process.Signal(syscall.SIGKILL))
	<-run.done
	_, stderr, code := p.ralph("attach", "run")
	if code != event.ExitFailed || !strings.Contains(stderr, "the runner of loop run died") {
		t.Errorf("attach: exit %d: %s", code, stderr)
	}
	p.fine("start", "run", "--detach", "--resume", "--agent", agent, "--protocol", "text")
	p.until("another agent", func() bool {
		return strings.Count(p.fine("logs", "run", "--json", "--type", "agent.started"), "\n") == 2
	})
	p.fine("stop", "run", "--now")
}

func TestGuardrailCannotAskTerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	run := p.terminal(p.command("run", "-p", "work", "-m", "1", "--agent", "true", "--protocol", "text",
		"--guardrails", `[{"command":"echo asked; read word < /dev/tty || echo nobody is there; exit 1"}]`))
	run.sees("nobody is there")
	run.leaves(1)
}

// Neither keys that arrive after the loop's end nor a terminal without a keyboard are errors.
func TestAttachEndsWithItsLoop(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.rehearsed("one")
	attach := p.terminal(p.command("attach", "one", "--plain"))
	attach.sees("I am working.")
	p.fine("stop", "one", "--now")
	attach.leaves(event.ExitInterrupted)
	if _, err := attach.master.WriteString("too late" + enter); err != nil && !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
}
