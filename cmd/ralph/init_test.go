//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/term"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
)

// Leaving the dialogue, in whatever way and at whatever question, is reported, writes nothing, and
// leaves the terminal as it was.
func TestInitIsLeft(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		leave func(*terminal)
	}{
		{"with ctrl-c", func(t *terminal) { t.types(ctrlC) }},
		{"with ctrl-c in the middle of a line", func(t *terminal) { t.types("7" + ctrlC) }},
		{"with ctrl-d", func(t *terminal) { t.types(ctrlD) }},
		{"with ctrl-d in the middle of a line, twice", func(t *terminal) { t.types("7" + ctrlD + ctrlD) }},
		{"with TERM", func(t *terminal) { t.must(t.cmd.Process.Signal(syscall.SIGTERM)) }},
		{"with HUP", func(t *terminal) { t.must(t.cmd.Process.Signal(syscall.SIGHUP)) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			talk := p.terminal(p.command("init"))
			talk.sees("Agent command")
			before, err := term.GetState(int(talk.master.Fd()))
			p.must(err)
			talk.types("sh" + enter + enter)
			talk.sees("Maximum iterations [10]: ")
			tt.leave(talk)
			talk.leaves(event.ExitInterrupted)
			talk.sees("ralph: left; nothing is written")
			after, err := term.GetState(int(talk.master.Fd()))
			p.must(err)
			if *before != *after {
				t.Errorf("the terminal was %+v and is %+v", before, after)
			}
			if _, err := os.Lstat(filepath.Join(p.dir, cli.RalphFolder)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("there is a folder: %v", err)
			}
		})
	}
}

// Closing the terminal leaves the dialogue, too.
func TestInitEndsWithItsTerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	talk := p.terminal(p.command("init"))
	talk.sees("Agent command")
	p.must(talk.master.Close())
	select {
	case <-talk.done:
	case <-time.After(patience):
		t.Fatal("init outlives its terminal")
	}
	if talk.code != event.ExitInterrupted {
		t.Errorf("exit %d", talk.code)
	}
}

// An answer that settings cannot hold, or that did not arrive whole, is asked for again.
func TestInitAsksAgain(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	talk := p.terminal(p.command("init"))
	talk.sees("Agent command")
	talk.types("sh" + enter)
	for i, tt := range []struct{ typed, said string }{
		{strings.Repeat("x", 5000), "an answer may have 4000 bytes"},
		{"\x1b[D", "only the keys that erase work here"},
		{"\xff\xfe", "that is not UTF-8 text"},
	} {
		p.until("the question", func() bool { return strings.Count(talk.text(), "Agent flags") == i+1 })
		talk.types(tt.typed + enter)
		talk.sees(tt.said)
	}
	talk.types("größe=好,🐢" + enter + enter + "jährlich" + enter + enter + enter + enter + enter + enter) // the last for a sandbox, where one holds
	talk.leaves(0)
	text, err := os.ReadFile(filepath.Join(p.dir, cli.RalphFolder, "settings.json"))
	p.must(err)
	for _, want := range []string{`"größe=好"`, `"🐢"`, `"jährlich"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s:\n%s", want, text)
		}
	}
}

// Settings that another process writes during the dialogue are never overwritten.
func TestInitWritesOverNobody(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		before, after string // of settings.json; empty for none
		says          string
	}{
		{"somebody begins the file", "", `{"maximumIterations": 3}`, "was changed by another program meanwhile"},
		{"somebody changes it", `{"maximumIterations": 2}`, `{"maximumIterations": 3}`, "was changed by another program meanwhile"},
		{"somebody removes it", `{"maximumIterations": 2}`, "", "was changed by another program meanwhile"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.must(os.MkdirAll(filepath.Join(p.dir, cli.RalphFolder), 0o700))
			path := filepath.Join(p.dir, cli.RalphFolder, "settings.json")
			put := func(text string) {
				if text == "" {
					_ = os.Remove(path)
					return
				}
				p.must(os.WriteFile(path, []byte(text), 0o600))
			}
			put(tt.before)
			talk := p.terminal(p.command("init"))
			if tt.before != "" {
				talk.sees("Overwrite? (y/N): ")
				talk.types("y" + enter)
			}
			talk.sees("Agent command")
			talk.types("sh" + enter + enter + enter + enter + enter)
			talk.sees("Configure SCM? (y/N): ")
			put(tt.after)
			talk.types("n" + enter + enter + enter + enter)
			talk.leaves(event.ExitUsage)
			talk.sees(tt.says)
			text, err := os.ReadFile(path)
			if string(text) != tt.after || tt.after != "" && err != nil {
				t.Errorf("%v: %s", err, text)
			}
			left, err := filepath.Glob(filepath.Join(p.dir, cli.RalphFolder, ".settings.json.*"))
			if len(left) > 0 || err != nil {
				t.Errorf("files left: %v %v", left, err)
			}
		})
	}
}

// An agent that is not found is accepted only after a confirmation.
func TestInitAsksAboutMissingAgent(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	talk := p.terminal(p.command("init"))
	talk.sees("Agent command")
	talk.types("no-such-agent" + enter)
	talk.sees(`the program "no-such-agent" is not found`)
	talk.sees("Use it anyway? (y/N): ")
	talk.types(enter)
	p.until("the question again", func() bool { return strings.Count(talk.text(), "Agent command (") == 2 })
	talk.types("another-agent" + enter)
	p.until("the second doubt", func() bool { return strings.Count(talk.text(), "Use it anyway?") == 2 })
	talk.types("y" + enter + enter + enter + enter + enter + enter + enter + enter + enter)
	talk.leaves(0)
	text, err := os.ReadFile(filepath.Join(p.dir, cli.RalphFolder, "settings.json"))
	p.must(err)
	if !strings.Contains(string(text), `"agent": "another-agent"`) || strings.Contains(string(text), "limits") {
		t.Errorf("written:\n%s", text)
	}
}

// Leaving at a question about limits writes nothing either.
func TestInitCanBeLeft(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	talk := p.terminal(p.command("init"))
	talk.sees("Agent command")
	talk.types("sh" + enter + enter + enter + enter + enter + enter)
	talk.sees("Limit of money")
	talk.types(ctrlC)
	talk.leaves(event.ExitInterrupted)
	if _, err := os.Lstat(filepath.Join(p.dir, cli.RalphFolder)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a folder: %v", err)
	}
}
