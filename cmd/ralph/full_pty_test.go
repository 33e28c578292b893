//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/testkit/terminaltest"
	"github.com/ralph-loop/ralph/journal/event"
)

const listens = "iteration\n  say I am working.\n  silence\n  steered -> say I heard you: {steer}\n"

// ends waits for the end of the program with an exit code, and for the terminal's former modes.
func (w *watched) ends(code int) {
	w.Helper()
	got, err := w.Ended(patience)
	if err != nil || got != code {
		w.Fatalf("exit %d, want %d: %v", got, code, err)
	}
	_, err = w.Await(patience, func(e *terminaltest.Emulator) bool {
		return !e.Alternate() && !e.Modes["?2004"] && !e.Modes["?1004"] && !e.Modes["?1007"] && e.Keyboard() == 0
	})
	if err != nil {
		w.Errorf("the terminal is left in other modes: %v", err)
	}
}

// A person steers a loop, sees what becomes of it, searches, and stops the loop.
func TestFullScreenSteersLoop(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.scenario("one", listens)
	w := p.watch("attach", "one")
	w.sees("one · iteration 1 of 10 · running", "I am working.", "type to steer")
	w.types("use tabs" + enter)
	w.sees("I heard you: use tabs", "delivered at turn ")
	w.types("/set max\t")
	w.sees("> /set maximumIterations")
	w.types("20" + enter)
	w.sees("iteration 1 of 20")
	w.types(ctrlC)
	w.sees("Stop the loop?", "leave it running")
	w.types("n")
	w.sees("stopped: stop", "resume>", "ctrl-d leave")
	w.types("\x04")
	w.ends(event.ExitInterrupted)
	w.sees("loop one · stopped")
	w.Look(func(e *terminaltest.Emulator) {
		if e.Unmarked > 0 && e.Frames == 0 {
			t.Errorf("%d frames, %d changes outside of one", e.Frames, e.Unmarked)
		}
	})
}

// A loop that waits for a person asks its question on the screen; the answer resumes it.
func TestFullScreenAnswersQuestion(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.scenario("asks", "iteration\n  inbox wait Which schema is right?\niteration\n  append work.txt {iteration}\n  promise\n")
	w := p.watch("attach", "asks")
	w.sees("needs you", "Which schema is right?", "answer>")
	w.types("the second" + enter)
	w.sees("completed: promise", "the second")
	w.types("\x04")
	w.ends(event.ExitCompleted)
}

// What a person types when the loop ends is kept, and resumes it.
func TestFullScreenKeepsTypedText(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.scenario("one", listens)
	w := p.watch("attach", "one")
	w.sees("I am working.")
	w.types("and the do")
	w.sees("> and the do")
	p.fine("stop", "one", "--now")
	w.sees("stopped: stop", "resume> and the do")
	w.types("cs" + enter)
	w.sees("Resume the loop? up to 10 more iterations with these words", "enter resume")
	settings := filepath.Join(p.dir, ".ralph", "settings.json")
	p.must(os.WriteFile(settings, []byte("{"), 0o600))
	w.types(enter)
	w.sees("settings.json", "resume> and the docs")
	p.must(os.Remove(settings))
	w.types(enter)
	w.sees("Resume the loop?")
	w.types(enter)
	w.sees("── iteration 2", "and the docs")
	w.types("never sent\x1b")
	w.sees("j k select")
	w.types("q")
	w.ends(0)
	w.sees("not sent: never sent", "left loop one, which goes on")
}

// Resuming a loop whose limit is used up raises it, and says so before.
func TestResumeRaisesLimit(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.scenario("one", "iteration\n  say Not done.\niteration\n  say Not yet.\niteration\n  append work.txt {iteration}\n  promise\n", "-m", "2")
	w := p.watch("attach", "one")
	w.sees("stopped: iterations", "resume>")
	w.types("ls" + enter)
	w.sees("Resume the loop? 2 more iterations with these words")
	w.types("x")
	w.sees("resume> lsx")
	w.types(ctrlC)
	w.ends(event.ExitLimit)
	w = p.watch("attach", "one")
	w.sees("resume>")
	w.types("go on" + enter + enter)
	w.sees("completed: promise", "iteration 3 of 4")
	w.types("\x04")
	w.ends(event.ExitCompleted)
}

func TestReadOnlyScreenSendsNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.scenario("one", listens)
	w := p.watch("attach", "one", "--read-only")
	w.sees("I am working.", "q leave")
	w.types("steer" + enter + "/nothing" + enter)
	w.sees("no other “nothing”")
	w.types(ctrlC)
	w.ends(0)
	if left, _ := filepath.Glob(filepath.Join(p.loop("one"), "inbox", "*")); len(left) > 0 {
		t.Errorf("the inbox has %v", left)
	}
}

// Inline, what is finished is printed for good, and the alternate screen is not used.
func TestInlineKeepsScrollback(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.scenario("one", listens)
	w := p.watch("attach", "one", "--inline")
	w.sees("I am working.", "one · iteration 1 of 10 · running")
	for _, word := range strings.Fields("first second third fourth fifth sixth seventh eighth") {
		w.types(word + enter)
		w.sees("I heard you: " + word)
	}
	w.types("\x04")
	w.ends(0)
	w.Look(func(e *terminaltest.Emulator) {
		all := strings.Join(append(e.Scrollback, e.Text()), "\n")
		if n := strings.Count(all, "I heard you: first"); n != 1 || e.Seen["CSI ?1049h"] > 0 {
			t.Errorf("the first answer is there %d times in\n%s", n, all)
		}
	})
}

// A lost connection ends the screen, and not the loop.
func TestFullScreenEndsWithTerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.scenario("one", listens)
	w := p.watch("attach", "one")
	w.sees("I am working.")
	p.must(w.Disconnect())
	if _, err := w.Ended(patience); err != nil {
		t.Errorf("the screen outlives its terminal: %v", err)
	}
	if got := p.status("one"); got != "running" {
		t.Errorf("the loop is %s", got)
	}
}

// Without a terminal that can be drawn on, attach prints text.
func TestScreenNeedsTerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.scenario("one", listens)
	for _, variable := range []string{"TERM=dumb", "CI=true"} {
		cmd := p.command("attach", "one")
		cmd.Env = append(cmd.Env, "TERM=xterm", variable)
		s, err := terminaltest.Start(cmd, terminaltest.Options{Columns: 80, Rows: 24})
		p.must(err)
		t.Cleanup(s.End)
		if _, err := s.Sees("I am working.", patience); err != nil {
			t.Error(err)
		}
		s.Look(func(e *terminaltest.Emulator) {
			if e.Alternate() {
				t.Errorf("with %s the screen is filled", variable)
			}
		})
		_ = cmd.Process.Signal(os.Interrupt)
		if _, err := s.Ended(patience); err != nil {
			t.Error(err)
		}
	}
}
