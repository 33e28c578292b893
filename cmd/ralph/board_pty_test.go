//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/testkit/terminaltest"
)

// scenario writes a scenario of the rehearsal agent and starts a detached loop with it.
func (p *place) scenario(name, text string, flags ...string) {
	p.Helper()
	path := filepath.Join(p.dir, name+".rehearsal")
	p.must(os.WriteFile(path, []byte(text), 0o600))
	p.fine(append([]string{"start", name, "--detach", "--allow-shared-worktree", "-p", "x", "--agent", "ralph rehearse " + path, "--protocol", "rehearsal"}, flags...)...)
}

// watched is a program on a terminal whose screen is compared with what a person should see.
type watched struct {
	*place
	*terminaltest.Session
}

func (p *place) watch(args ...string) *watched {
	p.Helper()
	cmd := p.command(args...)
	cmd.Env = append(cmd.Env, "TERM=xterm-256color", "CI=")
	session, err := terminaltest.Start(cmd, terminaltest.Options{Columns: 110, Rows: 30, Marks: true})
	p.must(err)
	p.Cleanup(session.End)
	return &watched{p, session}
}

// sees waits until the screen shows all of these texts.
func (w *watched) sees(texts ...string) {
	w.Helper()
	_, err := w.Await(patience, func(e *terminaltest.Emulator) bool {
		text := e.Text()
		for _, want := range texts {
			if !strings.Contains(text, want) {
				return false
			}
		}
		return true
	})
	if err != nil {
		w.Fatalf("it does not show %q: %v", texts, err)
	}
}

func (w *watched) types(keys string) {
	w.Helper()
	_, err := w.Type(keys)
	w.must(err)
}

// leaves waits for the end of the program, which succeeds and leaves the terminal as it was.
func (w *watched) leaves() {
	w.Helper()
	if code, err := w.Ended(patience); err != nil || code != 0 {
		w.Fatalf("exit %d, %v", code, err)
	}
	_, err := w.Await(patience, func(e *terminaltest.Emulator) bool { return !e.Modes["?1049"] && !e.Modes["?2004"] })
	if err != nil {
		w.Errorf("the terminal is left in other modes: %v", err)
	}
}

// A person finds the question of a loop, answers it there, steers another loop, and stops it.
func TestBoardAnswersInPlace(t *testing.T) {
	leaveToInterface(t)
	t.Parallel()
	p := newPlace(t)
	p.scenario("asks", "iteration\n  inbox wait Which schema is right?\niteration\n  append work.txt {iteration}\n  promise\n")
	board := p.watch()
	board.sees("needs you  1\n> asks  waiting <1m ", "\n    Which schema is right?\n", "a answer")
	board.types("a")
	board.sees("asks: Which schema is right?\nYour answer is for the agent of asks, and the loop continues with it:\n>")
	board.types("the second, v2" + enter)
	board.sees("loop asks has your answer and continues", "needs you\n  nothing\n", "ended  1\n> asks  completed <1m ago", "the agent gave the promise")
	if said := p.fine("logs", "asks", "--json", "--type", "iteration.started", "--iteration", "2"); !strings.Contains(said, "the second, v2") {
		t.Errorf("the answer is not in the prompt:\n%s", said)
	}

	p.scenario("works", "iteration\n  say I am working.\n  silence\n  steered -> say I heard you: {steer}\n")
	board.sees("working  1\n  works  running <1m")
	board.types("/works" + enter)
	board.sees("> works", "filter: works", "none match")
	board.types("s")
	board.sees("To the agent of works")
	board.types("leave the parser" + enter)
	board.sees("steer ", " of loop works") // delivered, or received if the agent takes a while to hear it
	p.until("the agent to hear it", func() bool {
		return p.fine("logs", "works", "--json", "--type", "command.delivered") != ""
	})
	board.types("x")
	board.sees("stop works?")
	board.types("!")
	board.sees("ended  1\n> works  stopped <1m ago")
	board.types("q")
	board.leaves()
}

// A blocked loop is resumed with the text that it needs.
func TestBoardResumesWithText(t *testing.T) {
	leaveToInterface(t)
	t.Parallel()
	p := newPlace(t)
	p.scenario("fonts", "iteration\n  inbox blocked the licence is not clear\niteration\n  append work.txt {iteration}\n  promise\n")
	board := p.watch("list", "--watch")
	board.sees("needs you  1\n> fonts  blocked <1m ago", "\n    the licence is not clear\n    → give it what it needs, then resume the loop\n")
	board.types("a")
	board.sees("This text is for its next prompt")
	board.types("it is the OFL" + enter)
	board.sees("Resume loop fonts? up to 9 more iterations with these words", "enter resume")
	board.types(enter)
	board.sees("loop fonts is running again; the text is in its next prompt", "> fonts  completed <1m ago")
	if said := p.fine("logs", "fonts", "--json", "--type", "iteration.started", "--iteration", "2"); !strings.Contains(said, "it is the OFL") {
		t.Errorf("the text is not in the prompt:\n%s", said)
	}
	board.types(ctrlC)
	board.leaves()
}

// A question is there while its agent works on, and a digit answers it. A person peeks at a loop,
// dismisses one, and begins another.
func TestBoardAsksPeeksBegins(t *testing.T) {
	leaveToInterface(t)
	t.Parallel()
	p := newPlace(t)
	p.must(os.WriteFile(filepath.Join(p.home, "settings.json"), []byte(`{"agent": "ralph rehearse new.rehearsal"}`), 0o600))
	p.must(os.WriteFile(filepath.Join(p.dir, "new.rehearsal"), []byte("iteration\n  append work.txt {iteration}\n  promise\n"), 0o600))
	p.scenario("asks", "iteration\n  say I look at it.\n  run ralph ask 'Postgres or SQLite?' --choice postgres --choice sqlite\n  silence\n  steered -> say I heard you: {steer}\n  steered -> finish\niteration\n  inbox blocked no licence\n")
	board := p.watch()
	board.sees("needs you  1\n> asks  1 question, running <1m ", "\n    Postgres or SQLite?\n    1 postgres · 2 sqlite\n")
	board.types(" ")
	board.sees("asks  1 question, running", "I look at it.", "esc comes back")
	board.types("2")
	board.sees("which works on meanwhile:\n> sqlite")
	board.types(enter)
	board.sees("needs you  1\n> asks  blocked <1m ago", "\n    no licence\n")
	board.types("d")
	board.sees("needs you\n  nothing\n", "ended  1\n> asks  blocked", "loop asks needs you no more")
	board.types("nDo it." + enter)
	board.sees("ended  2\n", "completed <1m ago")
	board.types("q")
	board.leaves()
	if said := p.fine("logs", "asks", "--json", "--type", "question.answered"); !strings.Contains(said, `"text":"sqlite"`) {
		t.Errorf("the answer is not in the journal:\n%s", said)
	}
}

// Enter shows a loop; leaving it comes back.
func TestBoardAttaches(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.rehearsed("one")
	board := p.watch()
	board.sees("> one", "? manual")
	board.types(enter)
	_, err := board.Await(patience, func(e *terminaltest.Emulator) bool {
		return strings.Contains(e.Text(), "I am working.") && e.Modes["?2004"] // keys reach ralph one by one
	})
	p.must(err)
	board.types(ctrlD)
	board.sees("needs you", "> one", "? manual")
	board.types("q")
	board.leaves()
	if p.dead("one") {
		t.Error("the loop has ended")
	}
}

// Where several loops run here, attach lets the person choose one of them.
func TestAttachLetsChoose(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, name := range []string{"one", "two"} {
		p.scenario(name, "iteration\n  say I am "+name+".\n  silence\n")
	}
	board := p.watch("attach")
	board.sees("working  2\n> two ", "\n  one ", "only this project, only with a runner")
	board.types("j" + enter)
	_, err := board.Await(patience, func(e *terminaltest.Emulator) bool {
		return strings.Contains(e.Text(), "I am one.") && e.Modes["?2004"]
	})
	p.must(err)
	board.types(ctrlD)
	board.sees("> one")
	board.types("q")
	board.leaves()
}

// Without a loop on this machine, ralph alone says what to do next.
func TestRalphAloneWelcomes(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	welcome := p.watch()
	welcome.sees("Three steps to the first:")
	welcome.leaves()
}

// For a program, a line of JSON comes whenever a loop has changed.
func TestListPrintsChanges(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	cmd := p.command("list", "--json", "--watch")
	out, err := cmd.StdoutPipe()
	p.must(err)
	p.must(cmd.Start())
	lines := bufio.NewReader(out)
	next := func() (status string) {
		line, err := lines.ReadString('\n')
		p.must(err)
		var loops []struct{ Status string }
		p.must(json.Unmarshal([]byte(line), &loops))
		for _, l := range loops {
			status += l.Status
		}
		return status
	}
	if got := next(); got != "" {
		t.Errorf("at first %q", got)
	}
	p.scenario("asks", "iteration\n  inbox wait Which schema is right?\n")
	for got := next(); got != "waiting"; got = next() {
		if got != "starting" && got != "running" {
			t.Fatalf("then %q", got)
		}
	}
	p.must(cmd.Process.Signal(os.Interrupt))
	if rest, err := io.ReadAll(lines); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v", rest, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("ctrl-c ends it with %v", err)
	}
}
