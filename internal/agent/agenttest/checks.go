package agenttest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/journal/event"
)

func checkCommand(t *testing.T, a Agent) {
	spec := a.Spec("agent")
	spec.Flags = append(make([]string, 0, len(spec.Flags)+8), spec.Flags...)
	command, flags := slices.Clone(spec.Command), slices.Clone(spec.Flags)
	cmd, err := a.New().Command(spec)
	if err != nil {
		t.Fatal(err)
	}
	for i := range cmd.Argv {
		cmd.Argv[i] = "changed"
	}
	_ = append(cmd.Argv, "more")
	if diff := cmp.Diff(command, spec.Command) + cmp.Diff(flags, spec.Flags); diff != "" {
		t.Error(diff)
	}
	for _, entry := range cmd.Env {
		if name, _, ok := strings.Cut(entry, "="); !ok || name == "" {
			t.Errorf("%q is no NAME=value", entry)
		}
	}
}

func checkTurn(t *testing.T, a Agent) {
	c := begin(t, a, a.Fake())
	if live := c.steer("early", "too early"); live {
		t.Error("a steer was taken before any turn")
	}
	c.open(Finish)
	said := 0
	for _, f := range c.facts {
		if f.EventType() == event.TypeAgentSaid {
			said++
		}
	}
	if said == 0 {
		t.Error("nothing was said")
	}
	if want := c.ends(); c.finished != want {
		t.Errorf("the turn finished %d times, want %d\n%v", c.finished, want, c.facts)
	}
	if c.steer("late", "too late") && !c.d.Abilities().ExitEnds {
		t.Error("a steer was taken after the turn")
	}
}

// ends is how many AgentFinished a turn that is over has.
func (c *conversation) ends() int {
	if c.d.Abilities().ExitEnds {
		return 0
	}
	return 1
}

// nasty are texts that people write.
var nasty = map[string]string{
	"nothing":                 "",
	"lines":                   "one\ntwo\r\nthree\n",
	"quotes and backslashes":  `say "hi" \ {"type":"result"}`,
	"line breaks of JSON":     "a\u2028b\u2029c",
	"bytes that are not text": "a\xffb\xc3",
	"control characters":      "\x00\x01\x1b[31m\x7f",
	"a flag":                  "--dangerously",
	"a command of the agent":  "/clear",
	"a megabyte":              strings.Repeat("word ", 200_000),
}

func checkPrompts(t *testing.T, a Agent) {
	for name, text := range nasty {
		t.Run(name, func(t *testing.T) {
			c := begin(t, a, nil)
			c.open(text)
			if c.finished != 0 {
				t.Error("the turn was over before the agent had said a word")
			}
		})
	}
}

// checkVersion: what an agent of another version says may mean another thing, so it changes
// nothing.
func checkVersion(t *testing.T, a Agent) {
	if a.Stranger == nil {
		t.Skip("this protocol states no version: another version is an agent with unknown words, which other checks cover")
	}
	c := begin(t, a, a.Stranger())
	c.open(Finish)
	var why string
	for _, f := range c.facts {
		switch p := f.Payload.(type) {
		case event.AgentFinished:
			why = string(p.Outcome) + ": " + p.Error
		case event.AgentNoticed, event.AgentUnparsed:
		default:
			t.Errorf("it was believed: %s %s", p.EventType(), f.Data)
		}
	}
	if c.finished != 1 || !strings.HasPrefix(why, "error: ") || !strings.Contains(why, "version 2") {
		t.Errorf("the turn finished %d times, as %q", c.finished, why)
	}
}

func checkSteer(t *testing.T, a Agent) {
	c := begin(t, a, a.Fake())
	c.open(Wait)
	if live, able := c.steer("c1", "a word"), c.d.Abilities().Live; live != able {
		t.Fatalf("in the turn: live %v, by its abilities %v", live, able)
	}
	if !c.d.Abilities().Live {
		return
	}
	if diff := cmp.Diff([]string{"c1"}, c.delivered); diff != "" {
		t.Errorf("delivered: %s", diff)
	}
	if c.finished != 1 {
		t.Errorf("the turn finished %d times after the word it had waited for", c.finished)
	}
	if c.steer("c2", "too late") {
		t.Error("a steer was taken after the turn")
	}
	for name, text := range nasty {
		t.Run(name, func(t *testing.T) {
			c := begin(t, a, a.Fake())
			c.open(Wait)
			c.fake = nil // answers to plain words alone
			c.t = t
			if !c.steer("c1", text) {
				t.Error("not taken")
			}
		})
	}
}

func checkAbort(t *testing.T, a Agent) {
	c := begin(t, a, a.Fake())
	c.open(Wait)
	lines := c.d.Abort()
	if len(lines) == 0 {
		return
	}
	c.send("Abort", lines)
	if c.finished != 1 {
		t.Fatalf("after Abort the turn finished %d times", c.finished)
	}
	for _, f := range c.facts {
		if p, ok := f.Payload.(event.AgentFinished); ok && p.Outcome != "aborted" {
			t.Errorf("outcome %q", p.Outcome)
		}
	}
	c.send("Stop", c.d.Stop())
}

func checkReset(t *testing.T, a Agent) {
	c := begin(t, a, a.Fake())
	for turn := 1; turn <= 3; turn++ {
		c.open(Finish)
		if c.finished != turn*c.ends() {
			t.Fatalf("turn %d: finished %d times", turn, c.finished)
		}
		lines, same := c.d.Reset()
		if able := c.d.Abilities().Reset; same != able {
			t.Fatalf("Reset: %v, by its abilities %v", same, able)
		}
		if !same {
			if len(lines) > 0 {
				t.Errorf("no reset, and yet there is %q to write", lines)
			}
			return
		}
		c.resetting = true
		if c.steer("between", "between the turns") {
			t.Error("a steer was taken while the context was made fresh")
		}
		c.send("Reset", lines)
		if c.fresh != turn {
			t.Fatalf("turn %d: confirmed %d times", turn, c.fresh)
		}
	}
}

func checkMemory(t *testing.T, a Agent) {
	streams := map[string][][]byte{"the fake's": transcript(t, a)}
	for name, stream := range a.Streams {
		streams[name] = slices.Collect(lines(stream))
	}
	for name, stream := range streams {
		t.Run(name, func(t *testing.T) {
			var facts [2][]string
			for i, keep := range []bool{true, false} {
				c := open(t, a)
				c.keep = keep
				for _, line := range stream {
					c.decode(line, agent.Stdout)
				}
				for _, f := range c.facts {
					facts[i] = append(facts[i], string(f.EventType())+" "+f.Data)
				}
			}
			if diff := cmp.Diff(facts[0], facts[1]); diff != "" {
				t.Errorf("with the memory of each line overwritten after it:\n%s", diff)
			}
		})
	}
}

func checkStreams(t *testing.T, a Agent) {
	for name, stream := range a.Streams {
		t.Run(name, func(t *testing.T) {
			c := open(t, a)
			c.keep = true // texts of facts are read after their line
			r := newRebuilt(a)
			for line := range lines(stream) {
				facts := c.decode(line, agent.Stdout)
				r.add(line, facts, c.out.DropRaw)
			}
			r.report(t)
		})
	}
	t.Run("the fake's", func(t *testing.T) {
		c := open(t, a)
		c.keep = true
		r := newRebuilt(a)
		for _, line := range transcript(t, a) {
			facts := c.decode(line, agent.Stdout)
			r.add(line, facts, c.out.DropRaw)
		}
		r.report(t)
	})
}
