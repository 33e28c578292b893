//go:build realagents && unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// Keys and completion: without an attached loop all of them are pi's, and what is typed to a loop
// reaches that one alone.
func TestRealPiExtensionKeys(t *testing.T) {
	p := newPiPerson(t)
	for _, name := range []string{"one", "two"} {
		p.cli("start", name, "-p", "work", "-d", "--allow-shared-worktree", "--agent", "ralph rehearse wait.rehearsal")
	}
	count := func(name, text string) int {
		return strings.Count(p.fine("logs", name, "--json", "--type", "command.received"), `"text":"`+text+`"`)
	}
	modelGot := func(text string) func() bool {
		return func() bool {
			requests := p.server.Requests()
			return len(requests) > 0 && requests[len(requests)-1].Holds(text)
		}
	}
	const altEnter = "\x1b\r"
	screen := p.pi()
	screen.shows("/ commands")
	screen.types("native-before")
	screen.shows("native-before")
	screen.types(altEnter)
	p.until("pi's model to be asked", modelGot("native-before"))
	screen.sees("PI-ANSWERS")

	screen.types("/ralph att")
	screen.shows("watch a loop")
	screen.types("\t")
	screen.shows("/ralph attach")
	screen.types("o")
	screen.shows("running, iteration 1")
	screen.types("\t")
	screen.shows("/ralph attach one")
	screen.types(enter)
	screen.sees("SAID-1")
	screen.shows("enter steers")
	screen.sends("for-one")
	screen.sees("HEARD for-one")
	screen.sends("/ralph attach two")
	screen.sees("two · iteration 1")
	p.cli("steer", "--loop", "one", "hidden-one")
	p.until("the first loop to hear it", func() bool {
		return strings.Contains(p.fine("logs", "one", "--json", "--type", "agent.said"), "HEARD hidden-one")
	})
	screen.sends("for-two")
	screen.sees("HEARD for-two")
	if strings.Contains(screen.text(), "hidden-one") {
		t.Error("a message of the first loop is shown while the second is attached")
	}
	if a, b := count("one", "for-one"), count("two", "for-one"); a != 1 || b != 0 {
		t.Errorf("for-one: %d in the first loop, %d in the second", a, b)
	}
	if a, b := count("one", "for-two"), count("two", "for-two"); a != 0 || b != 1 {
		t.Errorf("for-two: %d in the first loop, %d in the second", a, b)
	}

	screen.sends("/ralph detach")
	screen.sees("Detached from two")
	screen.types("native-after")
	screen.shows("native-after")
	screen.types(altEnter)
	p.until("pi's model to be asked again", modelGot("native-after"))
	if count("one", "native-after")+count("two", "native-after") != 0 {
		t.Error("a loop got what was typed when none was attached")
	}
}

// Where ralph cannot be run, the error says how to name it.
func TestRealPiExtensionProgramMissing(t *testing.T) {
	p := newPiPerson(t)
	plain := filepath.Join(p.dir, "plain-file")
	p.must(os.WriteFile(plain, nil, 0o600))
	for command, says := range map[string]string{
		"no-such-ralph": "no-such-ralph is not on PATH;",
		"/nowhere/r":    "/nowhere/r does not exist;",
		plain:           "cannot be executed;",
	} {
		p.must(os.WriteFile(filepath.Join(valueOf(p.env, "PI_CODING_AGENT_DIR"), "ralph.json"), []byte(`{"command":"`+command+`"}`), 0o600))
		screen := p.pi()
		screen.shows("/ commands")
		screen.sends("/ralph list")
		screen.sees(says)
		screen.sends("a plain question")
		screen.sees("PI-ANSWERS")
		p.must(screen.cmd.Process.Kill())
		<-screen.done
	}
}

// pi's agent gets the status as text, and starts loops within limits that it may choose.
func TestRealPiExtensionStatusTool(t *testing.T) {
	p := newPiPerson(t)
	p.startsLoops()
	p.prints("--ralph-start", "always", "-p", "loop please")
	if started := p.fine("logs", "demo", "--json", "--type", "loop.started"); !strings.Contains(started, `"maximumIterations":7`) || !strings.Contains(started, `"reflect":{"every":3}`) {
		t.Errorf("the loop was started so: %s", started)
	}
	p.prints("-p", "status please")
	r := p.server.Requests()
	for _, text := range []string{"iteration  1 of 7", "demo: running, iteration 1 of 7"} {
		if !r[len(r)-1].Holds(text) {
			t.Errorf("the model did not get %q: %s", text, r[len(r)-1].Body)
		}
	}
}

// pi ends with an error when a line that it draws again is wider than the terminal.
func TestRealPiExtensionNarrowTerminal(t *testing.T) {
	p := newPiPerson(t)
	p.must(os.WriteFile(filepath.Join(p.dir, "wait.rehearsal"), []byte(`# Asks more than the widget shows.
iteration 1
  silence
  steered -> say HEARD
  steered -> finish
iteration *
  run ralph ask 'Question A?'
  run ralph ask 'Question B?'
  run ralph ask 'Question C?'
  run ralph ask 'Question D?'
  say ALL-ASKED
  silence
`), 0o600))
	screen := p.pi()
	screen.shows("/ commands")
	screen.sends("/ralph start demo -p work --agent 'ralph rehearse wait.rehearsal'")
	screen.shows("enter steers")
	p.must(pty.Setsize(screen.master, &pty.Winsize{Cols: 20, Rows: terminalRows}))
	p.cli("steer", "--loop", "demo", "go on")
	screen.sees("ALL-ASKED")
	screen.sees("and 1 more")
	p.must(pty.Setsize(screen.master, &pty.Winsize{Cols: terminalColumns, Rows: terminalRows}))
	screen.sends("/ralph detach")
	screen.sees("Detached from demo")
}
