package acp

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// message is the run of text or thinking that is being written. Messages are numbered through the
// life of the process, so that a block's name is never used twice. Where the agent does not name
// its messages, a tool ends one.
type message struct {
	ordinal int
	id      string // the agent's name for it
	over    bool   // what is said next is another message
	index   int    // of the block in the message
	open    bool   // a block is open
	thought bool   // the block is thinking
	name    string // of the block
}

// chunk reads a piece of a message. The line itself is not kept, since a secret that is cut in two
// by two pieces could be masked in neither line.
func (d *Dialect) chunk(u update, thought bool, out *agent.Decoded) {
	kind, words := u.content.Get("type"), u.content.Get("text")
	if !kind.Is("text") || !words.IsString() {
		out.Notice(agent.Brief(u.what), kind)
		return
	}
	d.counted(u.meta.Get("usage"), out)
	if len(words.Inner()) == 0 {
		out.DropRaw = !u.meta.Exists()
		return
	}
	if d.profile.isRetry(words.Inner()) {
		// what comes next shows whose words they are
		d.turn.retryText, out.DropRaw = words.Text(), true
		return
	}
	if d.aside(u, words) {
		out.Notice("aside", words)
		return
	}
	proved := d.turn.retries > 0
	d.modelAnswered(out)
	d.turn.failure, d.turn.proved = "", proved
	switch {
	case d.turn.broken:
		d.turn.failure, d.turn.proved = agent.Brief(words), true
	case begins(words, d.profile.failed):
		d.turn.failure = strings.TrimPrefix(agent.Brief(words), d.profile.failed)
	}
	out.DropRaw = true
	d.say(u.Get("messageId"), event.Quoted(words.Raw()), thought, out)
}

// aside reports whether words in the model's place are the agent's own. If the agent gave up, they
// say why.
func (d *Dialect) aside(u update, words jsonscan.Value) bool {
	switch {
	case d.turn.broken, u.Get("messageId").IsString():
		return false
	case d.startup != "" && words.Says(d.startup), u.meta.Get("piAcp", "notify").Exists():
		return true
	}
	return d.profile.isAside(words.Inner())
}

// say reports a piece of what the model says or thinks.
func (d *Dialect) say(id jsonscan.Value, words event.Text, thought bool, out *agent.Decoded) {
	d.turn.spoke = true
	m := &d.message
	m.enter(id, thought, out)
	out.Say(event.AgentSaid{Block: m.name, Text: words}, thought)
}

// modelAsked notes that the model is asked, for an agent that reports it. Asked twice with nothing
// in between, it failed the first time.
func (d *Dialect) modelAsked(out *agent.Decoded) {
	kind, words := event.FaultKind(""), "the model is asked again"
	if d.turn.retryText != "" {
		words, d.turn.retryText = d.turn.retryText, ""
		kind = failureOf(words).kind()
	} else if !d.turn.asked {
		d.turn.asked = true
		return
	}
	d.turn.asked = true
	d.turn.retries++
	d.again(event.AgentRetried{Attempt: d.turn.retries, Kind: kind, Text: agent.Cut(words)}, out)
}

// begins reports whether a string value begins with a text that needs no escaping.
func begins(words jsonscan.Value, text string) bool {
	return text != "" && bytes.HasPrefix(words.Inner(), []byte(text))
}

// enter goes to the block that a piece belongs to.
func (m *message) enter(id jsonscan.Value, thought bool, out *agent.Decoded) {
	another := m.over || m.ordinal == 0 || id.IsString() && !id.Says(m.id)
	if m.open && !another && m.thought == thought {
		return
	}
	m.close(out)
	if another {
		m.ordinal++
		m.index, m.over, m.id = 0, false, id.Text()
	} else {
		m.index++
	}
	m.open, m.thought = true, thought
	m.name = strconv.Itoa(m.ordinal) + "." + strconv.Itoa(m.index)
}

// close ends the open block.
func (m *message) close(out *agent.Decoded) {
	if m.open && out != nil {
		out.Say(event.AgentSaid{Block: m.name, Final: true}, m.thought)
	}
	m.open = false
}

// end says that what comes next is another message.
func (m *message) end(out *agent.Decoded) {
	m.close(out)
	m.over = true
}
