//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
)

// otherHost makes a place that p reaches as the host farm. In place of ssh, a script runs the
// command there, as the same process: to kill it is to lose the connection.
func (p *place) otherHost() *place {
	q := newPlace(p.T)
	script := program(p.T, q.dir, "ssh", `for last; do :; done
case " $* " in
*" -G "*) exit 0 ;;
*attach*) echo $$ >> `+q.dir+`/attached ;;
esac
cd `+q.dir+`
export RALPH_HOME=`+q.home+` HOME=`+q.home+`
exec sh -c "exec $last"
`)
	p.Setenv("RALPH_SSH_COMMAND", script)
	return q
}

// A person finds a loop of another host on the board, answers it and looks at it there.
func TestBoardShowsOtherHosts(t *testing.T) {
	leaveToInterface(t)
	p := newPlace(t)
	q := p.otherHost()
	p.must(os.WriteFile(filepath.Join(p.home, "settings.json"), []byte(`{"hosts": ["farm"]}`), 0o600))
	p.scenario("here", "iteration\n  append work.txt {iteration}\n  promise\n")
	q.scenario("asks", "iteration\n  inbox wait Which schema is right?\niteration\n  append work.txt {iteration}\n  promise\n")
	board := p.watch("list", "--watch")
	board.sees("needs you  1\n  farm:asks  waiting <1m", "\n    Which schema is right?\n", "ended  1\n> here")
	board.types("k")
	board.sees("> farm:asks", "a answer")
	board.types("a")
	board.types("the second, v2" + enter)
	board.sees("needs you\n  nothing\n", "farm:asks  completed <1m ago")
	if said := q.fine("logs", "asks", "--json", "--type", "iteration.started", "--iteration", "2"); !strings.Contains(said, "the second, v2") {
		t.Errorf("the answer is not in the prompt:\n%s", said)
	}
	board.types("/farm" + enter)
	board.sees("> farm:asks")
	board.types(" ")
	board.sees("Which schema is right?")
	board.types(" ")
	board.types("q")
	board.leaves()
}

// The full screen comes back after a lost connection.
func TestAttachedScreenComesBack(t *testing.T) {
	leaveToInterface(t)
	p := newPlace(t)
	q := p.otherHost()
	q.scenario("works", "iteration\n  say I am working.\n  silence\n  steered -> say I heard you: {steer}\n")
	screen := p.watch("attach", "farm:works")
	screen.sees("I am working.")
	connections := func() []string {
		text, err := os.ReadFile(filepath.Join(q.dir, "attached"))
		p.must(err)
		return strings.Fields(string(text))
	}
	pid, err := strconv.Atoi(connections()[0])
	p.must(err)
	p.must(syscall.Kill(pid, syscall.SIGKILL))
	p.until("another connection", func() bool { return len(connections()) == 2 })
	screen.sees("I am working.")
	q.fine("steer", "works", "leave the parser")
	screen.sees("I heard you: leave the parser")
	q.fine("stop", "works", "--now")
	screen.sees("stopped: stop", "resume>", "ctrl-d leave")
	screen.types("\x04")
	screen.ends(event.ExitInterrupted)
}
