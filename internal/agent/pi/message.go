package pi

import (
	"bytes"
	"fmt"
	"hash/maphash"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/fault"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// message is the assistant message that is being written. Messages are numbered through the life of
// the process, so that no two blocks have the same name.
type message struct {
	ordinal int
	open    bool
	blocks  []*block
	last    uint64 // hash of the one that ended last, as pi wrote it
}

// block is one block of text or thinking in a message.
type block struct {
	agent.Block
	index   int64  // pi's contentIndex
	carried []byte // the first half of a character
	matched bool   // found in the complete message
}

// maxBlocks of one message are remembered; far more than a model makes.
const maxBlocks = 512

var seed = maphash.MakeSeed()

func (m *message) begin() {
	m.ordinal++
	m.open = true
	m.blocks = m.blocks[:0]
}

func (m *message) close() { m.open = false }

// block returns a block, which begins here if it is new.
func (m *message) block(thought bool, index int64) *block {
	if !m.open {
		m.begin()
	}
	for _, b := range m.blocks {
		if b.index == index && b.Thought == thought {
			return b
		}
	}
	if len(m.blocks) == maxBlocks {
		m.blocks = m.blocks[:0]
	}
	b := &block{Block: agent.Block{Name: fmt.Sprintf("%d.%d", m.ordinal, index), Thought: thought}, index: index}
	m.blocks = append(m.blocks, b)
	return b
}

// messageUpdate reads one step of the assistant's answer, the most frequent line of all. Before pi
// 0.84.0 it carried the complete message so far, twice. The line itself is not kept: message_end
// holds all of it again, and a secret that is cut in two by two deltas could be masked in neither
// line.
func (d *Dialect) messageUpdate(m jsonscan.Value, out *agent.Decoded) {
	d.turn.worked()
	out.DropRaw = true
	step := m.Get("assistantMessageEvent")
	if m.Get("message").Exists() {
		d.outdated(out)
	} else if step.IsObject() {
		d.version.settles = true
	}
	typ, index := step.Get("type"), agent.Int(step.Get("contentIndex"))
	switch string(typ.Inner()) {
	case "text_delta":
		d.message.delta(false, index, step.Get("delta"), out)
	case "thinking_delta":
		d.message.delta(true, index, step.Get("delta"), out)
	case "text_end":
		d.message.block(false, index).ended(step.Get("content"), out)
	case "thinking_end":
		d.message.block(true, index).ended(step.Get("content"), out)
	case "text_start", "thinking_start", "toolcall_start", "toolcall_delta", "toolcall_end":
		// The call itself comes as tool_execution_start.
	default:
		out.DropRaw = false
		out.Add(event.AgentNoticed{What: "message_update " + typ.Text()})
	}
}

// delta reports a delta. A delta may end with the first half of a character.
func (m *message) delta(thought bool, index int64, delta jsonscan.Value, out *agent.Decoded) {
	if !delta.IsString() {
		return
	}
	b := m.block(thought, index)
	b.Final = false
	news := delta.Inner()
	half := highSurrogate(news)
	var char []byte
	if len(b.carried) > 0 && len(news) > 0 {
		var ok bool
		if char, news, ok = pair(b.carried, news); !ok {
			char = bytes.Clone(b.carried)
		}
		b.carried = b.carried[:0]
	}
	if half != nil {
		b.carried = append(b.carried, half...)
		news = news[:len(news)-len(half)]
	}
	if len(char)+len(news) > 0 {
		b.Say(out, char, news)
	}
}

func (b *block) ended(text jsonscan.Value, out *agent.Decoded) {
	b.carried = b.carried[:0]
	b.End(text, out)
}

func (d *Dialect) messageStart(m jsonscan.Value, out *agent.Decoded) {
	d.turn.worked()
	msg := m.Get("message")
	switch string(msg.Get("role").Inner()) {
	case "assistant":
		// The model has been given the results of its tools: a call that has none by now never gets
		// one.
		d.calls.Lose(out, func(agent.Call) bool { return true })
		d.message.begin()
	case "user":
		out.DropRaw = true
		d.userMessage(msg.Get("content"), out)
	case "system":
		out.DropRaw = true
		d.version.settles = true // these came with pi 0.87
	case "toolResult":
		out.DropRaw = true
	}
}

func (d *Dialect) messageEnd(m jsonscan.Value, out *agent.Decoded) {
	d.turn.worked()
	msg := m.Get("message")
	switch string(msg.Get("role").Inner()) {
	case "assistant":
		// A message that ends twice is one message: it has not begun again, and its timestamp is
		// the same.
		again := maphash.Bytes(seed, msg.Raw())
		if again == d.message.last && !d.message.open {
			out.Add(event.AgentNoticed{What: "message_end repeated"})
			return
		}
		d.message.last = again
		d.assistantEnd(msg, out)
	case "toolResult":
		d.toolResult(msg, out)
	}
}

// assistantEnd reads the complete message: the parts that were not streamed are reported now, and
// its stop reason is the turn's outcome until another message ends.
func (d *Dialect) assistantEnd(msg jsonscan.Value, out *agent.Decoded) {
	content := msg.Get("content")
	if !d.message.open {
		d.message.begin()
	}
	index, refusal := int64(0), ""
	for part := range content.Items() {
		switch string(part.Get("type").Inner()) {
		case "text":
			d.message.completed(false, index, part.Get("text"), out)
		case "thinking":
			d.message.completed(true, index, part.Get("thinking"), out)
		case "refusal":
			refusal = agent.Refusal(part)
		}
		index++
	}
	for _, b := range d.message.blocks { // streamed, and not in the complete message
		b.Close(out)
	}
	d.message.close()
	d.used(msg.Get("usage"), msg.Get("model"), index == 0, out)
	d.turn.last = ending{
		known: true, reason: msg.Get("stopReason").Text(), message: msg.Get("errorMessage").Text(),
		status: diagnosed(msg.Get("diagnostics")), raw: msg.Get("rawStopReason").Text(), refusal: refusal,
	}
}

// diagnosed returns the HTTP status in a message's diagnostics, 0 if there is none.
func diagnosed(list jsonscan.Value) (status int) {
	for item := range list.Items() {
		if n := agent.Int(item.Get("details", "status")); fault.IsStatus(n) {
			status = int(n)
		}
	}
	return status
}

// completed closes the block of a part of the complete message: the block with the part's index or,
// if pi left out an empty part before it, any block with the same text.
func (m *message) completed(thought bool, index int64, text jsonscan.Value, out *agent.Decoded) {
	var found *block
	for _, b := range m.blocks {
		if b.matched || b.Thought != thought {
			continue
		}
		continues, all := b.Continues(text.Inner())
		if continues && (b.index == index || all && len(text.Inner()) > 0) {
			found = b
			break
		}
		if b.index == index {
			found = b
		}
	}
	if found == nil {
		if len(text.Inner()) == 0 {
			return
		}
		found = m.block(thought, index)
	}
	found.matched = true
	found.ended(text, out)
}

// used reports what one call of the model took.
func (d *Dialect) used(usage, model jsonscan.Value, empty bool, out *agent.Decoded) {
	if !usage.IsObject() {
		return
	}
	used, named, unread := event.AgentUsed{}, false, false
	for _, count := range [...]struct {
		name string
		to   *int64
	}{{"input", &used.In}, {"output", &used.Out}, {"cacheRead", &used.CacheRead}, {"cacheWrite", &used.CacheWrite}} {
		value := usage.Get(count.name)
		n, ok := agent.Tokens(value)
		*count.to = n
		named, unread = named || value.Exists(), unread || value.Exists() && !ok
	}
	for range usage.Members() {
		unread = unread || !named // it has other names
		break
	}
	nothing := used == event.AgentUsed{}
	cost := usage.Get("cost")
	total, ok := agent.Dollars(cost.Get("total"))
	if ok && (total > 0 || total == 0 && cost.Get("totalFromProvider").IsTrue()) {
		used.USD = &total
	}
	if nothing && empty && used.USD == nil && !unread {
		return
	}
	if model.IsString() && !model.Says(d.model) {
		d.model = model.Text()
	}
	used.Model = d.model
	out.Add(used)
	if unread {
		out.UnreadUsage()
	}
}
