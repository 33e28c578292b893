//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// scenario writes a scenario of the rehearsal agent and starts a detached loop with it.
func (p *place) scenario(name, text string) {
	p.Helper()
	path := filepath.Join(p.dir, name+".rehearsal")
	p.must(os.WriteFile(path, []byte(text), 0o600))
	p.fine("start", name, "--detach", "--allow-shared-worktree", "-p", "x", "--agent", "ralph rehearse "+path, "--protocol", "rehearsal")
}

// A person finds the question of a loop on the board, answers it there, stops another loop, and
// resumes one that is blocked.
func TestBoardAnswersInPlace(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.scenario("asks", "iteration\n  inbox wait Which schema is right?\niteration\n  append work.txt {iteration}\n  promise\n")
	p.until("the loop to wait", func() bool { return p.status("asks") == "waiting" })
	board := p.terminal(p.command())
	board.sees("needs you")
	board.sees("Which schema is right?")
	board.sees("a answer")
	board.types("a")
	board.sees("the loop continues with it")
	board.types("the second, v2" + enter)
	board.sees("loop asks has your answer and continues")
	p.until("the loop to complete", func() bool { return p.status("asks") == "completed" })
	if said := p.fine("logs", "asks", "--json", "--type", "iteration.started", "--iteration", "2"); !strings.Contains(said, "the second, v2") {
		t.Errorf("the answer is not in the prompt:\n%s", said)
	}
	board.sees("the agent gave the promise")

	p.scenario("works", "iteration\n  say I am working.\n  silence\n  steered -> say I heard you: {steer}\n")
	board.sees("works")
	board.types("/works" + enter)
	board.sees("filter: works")
	board.types("s")
	board.sees("To the agent of works")
	board.types("leave the parser" + enter)
	p.until("the agent to be steered", func() bool {
		return strings.Contains(p.fine("logs", "works", "--json", "--type", "agent.said"), "I heard you: leave the parser")
	})
	board.types("x")
	board.sees("stop works?")
	board.types("!")
	p.until("the loop to be stopped", func() bool { return p.status("works") == "stopped" })
	board.types("q")
	board.leaves(0)
}

// A blocked loop is resumed with the text that it needs.
func TestBoardResumesWithText(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.scenario("fonts", "iteration\n  inbox blocked the licence is not clear\niteration\n  append work.txt {iteration}\n  promise\n")
	p.until("the loop to end", func() bool { return p.status("fonts") == "stopped" && p.dead("fonts") })
	board := p.terminal(p.command("list", "--watch"))
	board.sees("the licence is not clear")
	board.types("a")
	board.sees("with this text in its next prompt")
	board.types("it is the OFL" + enter)
	board.sees("loop fonts is running again")
	p.until("the loop to complete", func() bool { return p.status("fonts") == "completed" })
	if said := p.fine("logs", "fonts", "--json", "--type", "iteration.started", "--iteration", "2"); !strings.Contains(said, "it is the OFL") {
		t.Errorf("the text is not in the prompt:\n%s", said)
	}
	board.types(ctrlC)
	board.leaves(0)
}

// Enter shows a loop; leaving it comes back.
func TestBoardAttaches(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.rehearsed("one")
	board := p.terminal(p.command())
	board.sees("working")
	board.sees("? manual")
	board.types(enter)
	board.sees("I am working.")
	board.types(ctrlD)
	board.sees("left loop one")
	p.until("the board to come back", func() bool { return strings.Count(board.text(), "? manual") > 1 })
	board.types("q")
	board.leaves(0)
	if p.dead("one") {
		t.Error("the loop has ended")
	}
}

// Without a loop on this machine, ralph alone says what to do next.
func TestRalphAloneWelcomes(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	welcome := p.terminal(p.command())
	welcome.sees("Three steps to the first:")
	welcome.leaves(0)
}
