//go:build unix

package main

import (
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/attach"
	"github.com/ralph-loop/ralph/internal/testkit/terminaltest"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
)

// shell runs a script in a terminal of its own, with ralph in its path.
func (p *place) shell(script string) *terminal {
	p.Helper()
	cmd := p.command()
	cmd.Path, cmd.Err = "/bin/sh", nil
	cmd.Args = []string{"sh", "-c", script}
	return p.terminal(cmd)
}

// A loop ends while a line is typed: the line stays, and enter resumes the loop with it.
func TestTypedTextResumesEndedLoop(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.rehearsed("one")
	attach := p.terminal(p.command("attach", "one", "--plain"))
	attach.sees(listening)
	attach.types("and the do")
	attach.sees("> and the do")
	p.fine("stop", "one", "--now")
	attach.sees("loop one has ended; enter resumes it with these words, ctrl-c leaves")
	attach.types("cs, please")
	attach.sees("> and the docs, please")
	if got := p.status("one"); got != "stopped" {
		t.Errorf("nobody resumed the loop, and it is %s", got)
	}
	attach.types(enter)
	attach.sees("Resume loop one? up to 10 more iterations with these words")
	attach.types(enter)
	attach.sees("follow-up (")
	attach.sees("── iteration 2")
	p.until("keys to reach ralph again", func() bool { return strings.Count(attach.text(), listening) == 2 })
	attach.types(ctrlC)
	attach.leaves(0)
	began := strings.Split(strings.TrimSpace(p.fine("logs", "one", "--json", "--type", "iteration.started")), "\n")
	if len(began) != 2 || !strings.Contains(began[1], "and the docs, please") {
		t.Errorf("the words are not in the next prompt:\n%s", began)
	}
	p.fine("stop", "one", "--now")
}

// Ctrl-c instead leaves the loop ended. Nothing that was typed reaches the shell.
func TestTypedTextStaysFromShell(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.rehearsed("one")
	shell := p.shell("ralph attach one --plain; echo exit $?; read word; echo the shell has: $word.")
	shell.sees(listening)
	shell.types("touch it")
	shell.sees("> touch it")
	p.fine("stop", "one", "--now")
	shell.sees("enter resumes it with these words")
	shell.types(" all" + ctrlC + "touch more" + enter)
	shell.sees(fmt.Sprintf("exit %d", event.ExitInterrupted))
	shell.types("mine" + enter)
	shell.sees("the shell has: mine.")
	shell.leaves(0)
	if got := p.status("one"); got != "stopped" {
		t.Errorf("nobody resumed the loop, and it is %s", got)
	}
}

// Ctrl-z restores the terminal for the shell, and fg takes it again, with the typed text.
func TestAttachIsSuspended(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.rehearsed("one")
	shell := p.shell("set -m; stty -g > before; ralph attach one --plain; stty -g > after; cmp before after && echo the modes are the same; read wait; fg; echo over")
	shell.sees(listening)
	shell.types("half a li\x1a")
	shell.sees("the modes are the same")
	shell.sees("\x1b[?2004l")
	shell.types(enter)
	again := regexp.MustCompile(`(?s)modes are the same.*\x1b\[\?2004h.*> half a li`)
	p.until("the terminal to be taken again", func() bool { return again.MatchString(shell.text()) })
	shell.types("ne" + enter)
	shell.sees("I heard you: half a line")
	shell.types(ctrlD)
	shell.sees("left loop one, which goes on")
	shell.sees("over")
	p.fine("stop", "one", "--now")
}

// Without a shell that could continue attach, ctrl-z changes nothing.
func TestAttachWithoutShellIgnoresSuspend(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.rehearsed("one")
	attach := p.terminal(p.command("attach", "one", "--plain"))
	attach.sees(listening)
	attach.types("half a li\x1ane" + enter)
	attach.sees("I heard you: half a line")
	attach.types(ctrlC)
	attach.leaves(0)
	p.fine("stop", "one", "--now")
}

// seat is a person at a terminal that a test attaches from.
type seat struct {
	*recorded
	keys  io.Writer
	shown *output
	size  func(columns, rows uint16)
}

// sit gives a recorded loop's environment a terminal.
func sit(t *testing.T, r *recorded, columns, rows uint16, environ ...string) *seat {
	t.Helper()
	master, tty, err := pty.Open()
	r.must(err)
	t.Cleanup(func() { _ = tty.Close(); _ = master.Close() })
	size := func(columns, rows uint16) { r.must(pty.Setsize(master, &pty.Winsize{Cols: columns, Rows: rows})) }
	size(columns, rows)
	s := &seat{recorded: r, keys: master, shown: newOutput(), size: size}
	go func() { _, _ = io.Copy(s.shown, master) }()
	r.env.Stdin, r.env.Stdout, r.env.Stderr = tty, tty, tty
	r.env.Environ = environ
	before, err := term.GetState(int(tty.Fd()))
	r.must(err)
	t.Cleanup(func() {
		if after, err := term.GetState(int(tty.Fd())); err != nil || !reflect.DeepEqual(before, after) {
			t.Errorf("the terminal is left in other modes: %v", err)
		}
	})
	return s
}

func (s *seat) types(keys string) {
	s.t.Helper()
	_, err := io.WriteString(s.keys, keys)
	s.must(err)
}

// Typing while output arrives loses no letter, neither of the input nor of the output.
func TestNoLetterIsLost(t *testing.T) {
	r := record(t, "night")
	r.live()
	r.append(event.IterationStarted{N: 1}, event.Decided{Do: event.DoStart, Iteration: 1}, event.AgentStarted{PID: 7})
	s := sit(t, r, 60, 20, "NO_COLOR=1")
	box, err := inbox.Open(r.dir)
	r.must(err)
	done := attachedTo(r, attach.Options{})
	s.shown.await(t, listening)
	var typed, said strings.Builder
	for i := range 300 {
		fmt.Fprintf(&typed, "%d", i)
		s.types(fmt.Sprint(i))
		word := fmt.Sprintf("word%d ", i)
		said.WriteString(word)
		r.append(event.AgentSaid{Block: "1.0", Text: event.Plain(word)})
	}
	r.append(event.AgentSaid{Block: "1.0", Final: true})
	s.shown.await(t, "word299")
	s.types(enter)
	if got := claimed(t, box); got.Text != typed.String() {
		t.Errorf("typed\n%s\nsent\n%s", typed.String(), got.Text)
	}
	s.types(ctrlD)
	r.must(returned(t, done))
	s.shown.await(t, "left loop night")
	e := terminaltest.NewEmulator(terminaltest.Options{Columns: 60, Rows: 20})
	_, _ = io.WriteString(e, s.shown.String())
	text := strings.Join(append(e.Scrollback, e.Text()), "\n")
	if got := strings.Join(strings.Fields(text), " "); !strings.Contains(got, strings.TrimSpace(said.String())) {
		t.Errorf("the output is not whole:\n%s", text)
	}
	if strings.Contains(text, "> 0") || strings.Contains(text, "iteration 1 of 10 ·") && strings.Count(text, "cost unknown") > 1 {
		t.Errorf("the footer is left on the terminal:\n%s", text)
	}
}

// Words that were sent are offered as well, if the loop ended before it took them.
func TestLateTextIsOffered(t *testing.T) {
	r := record(t, "night")
	r.live()
	r.append(event.IterationStarted{N: 1}, event.Decided{Do: event.DoStart, Iteration: 1}, event.AgentStarted{PID: 7})
	s := sit(t, r, 60, 20)
	done := attachedTo(r, attach.Options{})
	s.shown.await(t, listening)
	s.types("mend the docs" + enter)
	s.types("/pause" + enter)
	s.types("and more")
	s.shown.await(t, "> and more")
	r.end(event.ReasonStop, "so it was")
	s.shown.await(t, "ended before it took the pause, which is withdrawn")
	s.shown.await(t, "> mend the docs and more")
	s.shown.await(t, "enter resumes it with these words")
	s.types("/pause\x15/pause" + enter)
	s.shown.await(t, "a line of words and enter resume it")
	s.types(ctrlC)
	if got := codeOf(returned(t, done)); got != event.ExitInterrupted {
		t.Errorf("exit code %d, want %d", got, event.ExitInterrupted)
	}
}

// So are words that the loop refuses because it ends, but not those that it refused before for
// another reason.
func TestRefusedTextIsOffered(t *testing.T) {
	r := record(t, "night")
	r.live()
	r.append(event.IterationStarted{N: 1}, event.AgentStarted{PID: 7})
	s := sit(t, r, 60, 20)
	box, err := inbox.Open(r.dir)
	r.must(err)
	done := attachedTo(r, attach.Options{})
	s.shown.await(t, listening)
	for _, words := range []string{"too much", "delivered", "mend the docs"} {
		s.types(words + enter)
		c := claimed(t, box)
		r.append(event.CommandReceived{ID: c.ID, Kind: c.Kind, Text: c.Text, From: c.From})
		switch words {
		case "too much":
			r.append(event.CommandRefused{ID: c.ID, Why: "too many wait"})
			r.append(event.AgentSaid{Block: "1.0", Text: event.Plain("I work."), Final: true})
		case "delivered":
			r.append(event.CommandDelivered{ID: c.ID, How: "live"})
		default:
			r.append(event.CommandRefused{ID: c.ID, Why: "the loop ended before the agent could read it"})
		}
	}
	r.end(event.ReasonStop, "so it was")
	s.shown.await(t, "enter resumes it with these words")
	s.shown.await(t, "> mend the docs\x1b[K")
	s.types(ctrlC)
	if got := codeOf(returned(t, done)); got != event.ExitInterrupted {
		t.Errorf("exit code %d, want %d", got, event.ExitInterrupted)
	}
}

// Without typed text there is no question.
func TestEndWithoutTextEnds(t *testing.T) {
	r := record(t, "night")
	r.live()
	s := sit(t, r, 60, 20)
	done := attachedTo(r, attach.Options{})
	s.shown.await(t, listening)
	r.end(event.ReasonPromise, "done")
	r.must(returned(t, done))
}

// A dumb terminal is not drawn on. Lines are typed as the terminal edits them.
func TestAttachAtADumbTerminal(t *testing.T) {
	r := record(t, "night")
	r.live()
	r.append(event.IterationStarted{N: 1}, event.Decided{Do: event.DoStart, Iteration: 1}, event.AgentStarted{PID: 7}, event.ToolCalled{ID: "a", Name: "bash"}, event.ToolProgressed{ID: "a", Text: event.Plain("ok a\n")})
	s := sit(t, r, 60, 20, "TERM=dumb")
	box, err := inbox.Open(r.dir)
	r.must(err)
	done := attachedTo(r, attach.Options{})
	s.shown.await(t, "- bash")
	s.types("go on\n")
	if got := claimed(t, box); got.Text != "go on" {
		t.Errorf("sent %q", got.Text)
	}
	s.types(ctrlD)
	r.must(returned(t, done))
	if got := s.shown.String(); strings.Contains(got, "\x1b") || strings.Contains(got, "ok a") {
		t.Errorf("it is drawn on: %q", got)
	}
}

func TestWithoutColoursNothingIsColoured(t *testing.T) {
	r := record(t, "night")
	r.live()
	r.append(event.IterationStarted{N: 1}, event.Decided{Do: event.DoStart, Iteration: 1}, event.AgentStarted{PID: 7}, event.ToolCalled{ID: "a", Name: "ba\x1b[31msh"}, event.ToolProgressed{ID: "a", Text: event.Plain("o\x1b[31mk a\x1b]0;title\x07\n")})
	s := sit(t, r, 60, 20, "NO_COLOR=1")
	done := attachedTo(r, attach.Options{})
	s.shown.await(t, "  | ok a")
	s.shown.await(t, "· bash")
	r.append(event.ToolCalled{ID: "b", Name: "Edit", Input: []byte(`{"file_path":"x.go","old_string":"a\nb","new_string":"a\nc"}`)})
	s.shown.await(t, "  - b")
	s.shown.await(t, "  + c")
	s.types(ctrlD)
	r.must(returned(t, done))
	if got := s.shown.String(); regexp.MustCompile(`\x1b\[[0-9;]*m|\x1b\]`).MatchString(got) {
		t.Errorf("a colour or a title: %q", got)
	}
}

// Without a status line, only the typed line is below the output.
func TestAttachWithoutAStatusLine(t *testing.T) {
	r := record(t, "night")
	r.live()
	r.append(event.IterationStarted{N: 1}, event.Decided{Do: event.DoStart, Iteration: 1}, event.AgentStarted{PID: 7}, event.ToolCalled{ID: "a", Name: "bash"}, event.ToolProgressed{ID: "a", Text: event.Plain("ok a\n")})
	s := sit(t, r, 60, 20)
	done := attachedTo(r, attach.Options{NoStatus: true})
	s.shown.await(t, listening)
	s.types("x")
	s.shown.await(t, "> x")
	s.types(ctrlC + ctrlD)
	r.must(returned(t, done))
	if got := s.shown.String(); strings.Contains(got, "ok a") || strings.Contains(got, "cost unknown · ") {
		t.Errorf("a status: %q", got)
	}
}

// When the terminal changes its size, the footer is in its place, once.
func TestFooterFollowsTerminalSize(t *testing.T) {
	r := record(t, "night")
	r.live()
	r.append(event.IterationStarted{N: 1}, event.Decided{Do: event.DoStart, Iteration: 1}, event.AgentStarted{PID: 7}, event.ToolCalled{ID: "a", Name: "bash", Input: []byte(`{"command":"` + strings.Repeat("long ", 30) + `"}`)})
	s := sit(t, r, 120, 20)
	done := attachedTo(r, attach.Options{})
	s.shown.await(t, "iteration 1 of 10 · ")
	s.shown.reset()
	s.size(30, 20)
	// The test is no process of that terminal, so the kernel sends it no signal. The new size is
	// seen at the next second.
	s.shown.await(t, "1/10 · ")
	s.types(ctrlD)
	r.must(returned(t, done))
	_, after, _ := strings.Cut(s.shown.String(), "1/10 · ")
	for row := range strings.SplitSeq(regexp.MustCompile(`\x1b\[[0-9;?]*[a-zA-Z]`).ReplaceAllString(after, "\n"), "\n") {
		if n := render.Columns(strings.Trim(row, "\r")); n > 30 && !strings.Contains(row, "ralph: left") {
			t.Errorf("%q has %d columns", row, n)
		}
	}
}

// Output to a file or a pipe has no status, no running tools and no typed line: these are for
// terminals.
func TestAttachToPipePrintsText(t *testing.T) {
	r := record(t, "night")
	r.live()
	r.iterate(1, "I look at the tests first.")
	r.append(event.IterationStarted{N: 2}, event.AgentStarted{PID: 7}, event.ToolCalled{ID: "a", Name: "Edit", Input: []byte(`{"file_path":"x.go","old_string":"a\nb","new_string":"a\nc"}`)},
		event.ToolProgressed{ID: "a", Text: event.Plain("ok a\n")}, event.ToolReturned{ID: "a", OK: true, Output: event.Plain("done")})
	r.end(event.ReasonPromise, "done")
	r.must(r.lock.Release())
	err := attach.Run(r.env, r.name, r.dir, attach.Options{Plain: true})
	r.must(err)
	const want = `- Edit  x.go  -2 +2
  done
`
	if got := r.out.String(); !strings.Contains(got, want) || strings.ContainsAny(got, "\x1b\r") {
		t.Errorf("%s\ndoes not contain\n%s", got, want)
	}
}

// The footer is not drawn again for each line of a tool that prints much.
func TestFastToolOutputIsThrottled(t *testing.T) {
	r := record(t, "night")
	r.live()
	r.append(event.IterationStarted{N: 1}, event.Decided{Do: event.DoStart, Iteration: 1}, event.AgentStarted{PID: 7}, event.ToolCalled{ID: "a", Name: "bash"})
	s := sit(t, r, 60, 20)
	began := time.Now()
	done := attachedTo(r, attach.Options{})
	s.shown.await(t, "· bash")
	const lines = 400
	for i := range lines {
		r.append(event.ToolProgressed{ID: "a", Text: event.Plain(fmt.Sprintf("line %d\n", i))})
	}
	s.shown.await(t, fmt.Sprintf("line %d", lines-1))
	n := strings.Count(s.shown.String(), "\x1b[?2026h")
	took := time.Since(began) // everything that was counted was drawn before
	if most := int(took/(100*time.Millisecond)) + int(took/time.Second) + 3; n > most {
		t.Errorf("drawn %d times in %s", n, took)
	}
	s.types(ctrlD)
	r.must(returned(t, done))
}
