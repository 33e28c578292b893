//go:build unix

package main

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/ralph-loop/ralph/registry"
)

// In a terminal, start asks what to do with an ended loop of the same name.
func TestStartAsksAboutEndedLoop(t *testing.T) {
	p := newPlace(t)
	agent := p.script("agent.sh", "cat > /dev/null\n")
	begin := func(name string) {
		p.Helper()
		if _, said, code := p.ralph("start", name, "-p", "do it", "-m", "1", "-a", agent, "--protocol", "text"); code != 1 {
			p.Fatalf("exit %d: %s", code, said)
		}
	}
	start := func(args ...string) *terminal {
		return p.terminal(p.command(append([]string{"start", "--detach", "-a", agent, "--protocol", "text"}, args...)...))
	}
	begin("one")
	t.Run("leave", func(*testing.T) {
		term := start("one", "-p", "again", "-m", "1")
		term.sees("loop one has ended (stopped)")
		term.sees("another (n)ame")
		term.types(enter)
		term.sees("--fresh archives it first")
		term.leaves(2)
	})
	t.Run("another name", func(*testing.T) {
		term := start("one", "-p", "again", "-m", "1")
		term.sees("another (n)ame")
		term.types("n" + enter)
		term.sees("Name: ")
		term.types("No Name" + enter)
		term.sees("must begin with")
		term.types("two" + enter)
		term.sees("loop two is running")
		term.leaves(0)
	})
	p.until("the loop to end", func() bool { return p.dead("two") })
	t.Run("fresh", func(*testing.T) {
		term := start("one", "-p", "again", "-m", "1")
		term.sees("another (n)ame")
		term.types("what" + enter + "F" + enter)
		term.sees("archived the earlier loop")
		term.sees("loop one is running")
		term.leaves(0)
	})
	p.until("the loop to end", func() bool { return p.dead("one") })
	t.Run("resume", func(*testing.T) {
		term := start("one", "-m", "2")
		term.sees("(r)esume it, or enter to leave")
		term.types("f" + enter + "r" + enter) // without a prompt there is nothing to begin
		term.sees("loop one is running")
		term.leaves(0)
	})
	p.until("the loop to end", func() bool { return p.dead("one") })
	t.Run("gone", func(*testing.T) {
		term := start("one", "-p", "again")
		term.sees("another (n)ame")
		term.types(ctrlC)
		term.leaves(130)
	})
}

// Several starts of one name run at once, all but one with an agent that is missing. The failed
// ones take nothing from the loop that runs.
func TestUnbegunLoopBesideRunningOne(t *testing.T) {
	p := newPlace(t)
	agent := p.script("agent.sh", "cat > /dev/null\nexec sleep 300\n")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { p.ralph("start", "one", "--detach", "-p", "do it", "-a", "./mistyped", "--protocol", "text") })
	}
	began := false
	all.Go(func() {
		for range 50 { // each of the others may be in the way
			if _, _, code := p.ralph("start", "one", "--detach", "-p", "do it", "-a", agent, "--protocol", "text"); code == 0 {
				began = true
				return
			}
		}
	})
	all.Wait()
	if !began {
		t.Fatal("the loop did not begin")
	}
	live, err := registry.Probe(p.loop("one"))
	if err != nil || !live.Alive {
		t.Fatalf("its runner does not live: %v", err)
	}
	loops, err := registry.Survey(p.home, nil)
	if err != nil || len(loops) != 1 || loops[0].Gone || !loops[0].Live.Alive {
		t.Errorf("the registry has %+v, %v", loops, err)
	}
	if _, err := os.Stat(filepath.Join(p.loop("one"), "journal")); err != nil {
		t.Error(err)
	}
}
