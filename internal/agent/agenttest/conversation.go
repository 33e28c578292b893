package agenttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// conversation is one dialect and the contract that is held to all it does.
type conversation struct {
	t    testing.TB
	d    agent.Dialect
	fake Fake // answers what the dialect sends; nil if nothing does
	text bool // the output is free text
	json bool // what the dialect sends are JSON lines
	all  bool // what it sends is the prompt itself, and the end of stdin ends it

	facts     []fact
	printed   [][]byte // all that was decoded
	opened    int
	finished  int
	steered   []string
	delivered []string
	resetting bool
	fresh     int
	stale     int

	out    agent.Decoded
	buffer []byte // the line being decoded, overwritten after it
	keep   bool   // leave each line its memory
}

// fact is an event as the journal would have it.
type fact struct {
	event.Payload
	Data string
}

// begin returns a conversation whose agent has been started.
func begin(t testing.TB, a Agent, fake Fake) *conversation {
	t.Helper()
	c := &conversation{t: t, d: a.New(), fake: fake}
	c.command(a)
	if fake != nil {
		c.heard(fake(nil))
	}
	return c
}

// open returns a conversation within a turn, without a fake.
func open(t testing.TB, a Agent) *conversation {
	t.Helper()
	c := begin(t, a, nil)
	c.open(Finish)
	return c
}

func (c *conversation) command(a Agent) {
	c.t.Helper()
	spec := a.Spec("agent")
	spec.Dir, spec.LoopDir, spec.Iteration, spec.Prompt = "/project", "/project/.ralph/test", 1, Finish
	cmd, err := c.d.Command(spec)
	if err != nil {
		c.t.Fatalf("Command: %v", err)
	}
	if len(cmd.Argv) == 0 {
		c.t.Fatal("Command: no program")
	}
	c.text, c.all = cmd.Text, cmd.CloseStdin
}

func (c *conversation) open(prompt string) {
	c.t.Helper()
	c.opened++
	lines := c.d.Open(agent.Prompt{Text: prompt, Iteration: c.opened})
	c.json = c.json || len(lines) > 0 && jsonscan.Valid(lines[0])
	c.send("Open", lines)
}

func (c *conversation) steer(id, text string) (live bool) {
	c.t.Helper()
	lines, live := c.d.Steer(id, text)
	if !live && len(lines) > 0 {
		c.t.Errorf("Steer: not live, and yet there is %q to write", lines)
	}
	if live {
		c.steered = append(c.steered, id)
		c.send("Steer", lines)
	}
	return live
}

// send passes lines on to the fake, and has its answers decoded.
func (c *conversation) send(from string, lines [][]byte) {
	c.t.Helper()
	for _, line := range lines {
		if !c.all && bytes.ContainsAny(line, "\n\r") {
			c.t.Errorf("%s: a line break within the line %s", from, short(line))
		}
		if c.json && !jsonscan.Valid(line) {
			c.t.Errorf("%s: not JSON: %s", from, short(line))
		}
		if c.fake != nil {
			c.heard(c.fake(bytes.Clone(line)))
		}
	}
}

func (c *conversation) heard(printed [][]byte) {
	c.t.Helper()
	for _, line := range printed {
		c.decode(line, agent.Stdout)
	}
}

// decode has one line decoded, checks what came of it, and returns the facts.
func (c *conversation) decode(line []byte, from agent.Stream) []fact {
	c.t.Helper()
	c.printed = append(c.printed, line)
	c.buffer = append(c.buffer[:0], line...)
	if c.text {
		c.buffer = append(c.buffer, '\n')
	}
	c.out.Reset()
	c.d.Decode(c.buffer[:len(c.buffer):len(c.buffer)], from, &c.out)
	if !bytes.Equal(bytes.TrimSuffix(c.buffer, []byte("\n")), bytes.TrimSuffix(line, []byte("\n"))) {
		c.t.Errorf("Decode changed the line %s", short(line))
	}
	var facts []fact
	for _, p := range c.out.Facts {
		facts = append(facts, fact{p, string(event.AppendData(nil, p))})
	}
	c.check(line, from, facts)
	replies := c.out.Reply
	for i, reply := range replies {
		replies[i] = bytes.Clone(reply)
	}
	replies = slices.Clone(replies)
	if c.keep {
		c.buffer = nil
	}
	clear(c.buffer[:cap(c.buffer)])
	c.facts = append(c.facts, facts...)
	c.send("Decode", replies)
	return facts
}

// check holds the contract to what one line came to.
func (c *conversation) check(line []byte, from agent.Stream, facts []fact) {
	c.t.Helper()
	wrong := func(format string, args ...any) {
		c.t.Helper()
		c.t.Errorf("%s\n  of the line %s", fmt.Sprintf(format, args...), short(line))
	}
	if c.out.JSON && !jsonscan.Valid(line) {
		wrong("JSON is claimed of what is none")
	}
	for _, f := range facts {
		if !jsonscan.Valid([]byte(f.Data)) {
			wrong("%s is not JSON: %s", f.EventType(), short([]byte(f.Data)))
		}
		if problem := c.apply(f.Payload); problem != "" {
			wrong("%s: %s", f.EventType(), problem)
		}
	}
	if c.out.Fresh || c.out.Stale {
		if !c.resetting || c.out.Fresh && c.out.Stale {
			wrong("fresh %v, stale %v, asked for %v", c.out.Fresh, c.out.Stale, c.resetting)
		}
		c.resetting = false
		if c.out.Fresh {
			c.fresh++
		} else {
			c.stale++
		}
	}
	if !c.keptWhole(line, from, facts) {
		wrong("it is lost: neither JSON to be kept nor within the facts %v", facts)
	}
}

// end reports the exit to the dialect, which then reports the rest of the usage, once.
func (c *conversation) end() {
	c.t.Helper()
	d, ok := c.d.(agent.Ender)
	if !ok {
		return
	}
	for again := range 2 {
		c.out.Reset()
		d.End(-1, &c.out)
		for _, fact := range c.out.Facts {
			_, used := fact.(event.AgentUsed)
			if problem := c.apply(fact); problem != "" || !used || again > 0 {
				c.t.Errorf("at the end, time %d: %+v %s", again+1, fact, problem)
			}
		}
	}
}

// apply counts a fact and says what is wrong with it.
func (c *conversation) apply(p event.Payload) string {
	switch p := p.(type) {
	case event.AgentSaid, event.AgentThought, event.AgentAsked, event.AgentRetried,
		event.AgentCompacted, event.AgentNoticed, event.AgentUnparsed, event.ToolCalled, event.ToolProgressed, event.ToolReturned:
	case event.AgentUsed:
		if min(p.In, p.Out, p.CacheRead, p.CacheWrite) < 0 || p.USD != nil && *p.USD < 0 {
			return fmt.Sprintf("less than nothing was used: %+v", p)
		}
	case event.AgentPlanned:
		for _, todo := range p.Todos {
			if !slices.Contains([]event.TodoStatus{event.TodoPending, event.TodoActive, event.TodoDone}, todo.Status) {
				return fmt.Sprintf("status %q", todo.Status)
			}
		}
	case event.AgentLimited:
		if !slices.Contains([]event.FaultKind{event.KindRate, event.KindOverload, event.KindQuota, event.KindAuth, event.KindNetwork}, p.Kind) {
			return fmt.Sprintf("kind %q", p.Kind)
		}
	case event.AgentFinished:
		if !slices.Contains([]event.TurnOutcome{event.TurnOK, event.TurnError, event.TurnAborted, event.TurnLength}, p.Outcome) {
			return fmt.Sprintf("outcome %q", p.Outcome)
		}
		if c.finished++; c.finished > c.opened {
			return fmt.Sprintf("number %d of %d turns", c.finished, c.opened)
		}
		if c.d.Abilities().ExitEnds {
			return "the exit is said to end the turn"
		}
	case event.AgentQuota:
		if len(p.Windows) == 0 {
			return "a quota without a window"
		}
	case event.CommandDelivered:
		if !slices.Contains(c.steered, p.ID) {
			return fmt.Sprintf("%q was never sent", p.ID)
		}
		if slices.Contains(c.delivered, p.ID) {
			return fmt.Sprintf("%q once more", p.ID)
		}
		// which may share memory with the line
		c.delivered = append(c.delivered, strings.Clone(p.ID))
	default:
		return "not a dialect's to report"
	}
	return ""
}

// keptWhole reports whether a line can be read again from what is kept of it. The session keeps a
// JSON line of stdout that is not dropped; rebuilt checks whether a dropped one repeats what others
// hold.
func (c *conversation) keptWhole(line []byte, from agent.Stream, facts []fact) bool {
	want := strings.TrimSpace(plain(line))
	if want == "" || from == agent.Stdout && jsonscan.Valid(line) && !c.text {
		return true
	}
	for _, f := range facts {
		var held string
		switch p := f.Payload.(type) {
		case event.AgentUnparsed:
			held = p.Line.String()
		case event.AgentNoticed:
			held = plain([]byte(p.Text))
		case event.AgentSaid:
			held = p.Text.String()
		}
		if strings.Contains(held, want) {
			return true
		}
	}
	return false
}

// plain is a text as the journal holds it.
func plain(line []byte) string { return event.Plain(string(line)).String() }

// lines are the lines of a stream.
func lines(stream []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for line := range bytes.Lines(stream) {
			if !yield(bytes.TrimSuffix(line, []byte("\n"))) {
				return
			}
		}
	}
}

// short is a line for a message.
func short(line []byte) string {
	const most = 300
	if len(line) <= most {
		return fmt.Sprintf("%q", line)
	}
	return fmt.Sprintf("%q… (%d bytes)", line[:most], len(line))
}

// transcript is what the fake prints from its start to the end of one turn.
func transcript(t testing.TB, a Agent) [][]byte {
	c := begin(t, a, a.Fake())
	c.open(Finish)
	return c.printed
}

// leaves yields the strings of a JSON value, with the key of each.
func leaves(value any, key string, yield func(key, text string)) {
	switch v := value.(type) {
	case string:
		yield(key, v)
	case []any:
		for _, item := range v {
			leaves(item, key, yield)
		}
	case map[string]any:
		for k, item := range v {
			leaves(item, k, yield)
		}
	}
}

// leavesOf calls yield with each string of a JSON line.
func leavesOf(line []byte, yield func(key, text string)) {
	var value any
	if json.Unmarshal(line, &value) == nil {
		leaves(value, "", yield)
	}
}
