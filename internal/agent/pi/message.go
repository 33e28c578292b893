package pi

import (
	"hash/maphash"
	"strconv"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// message is the assistant message that is being told. Messages are numbered
// through the life of the process, so that a block's name is never used twice.
type message struct {
	ordinal int
	open    bool
	blocks  []block
	last    uint64 // hash of the one that ended last, as pi wrote it
}

// block is one run of text or of thinking within a message.
type block struct {
	index   int64 // pi's contentIndex
	kind    kind
	name    string
	said    prefix
	carried []byte // half a character that waits for its other half
	final   bool
	matched bool // found again in the whole message
}

type kind uint8

const (
	speech kind = iota
	thought
)

// maxBlocks of one message are remembered; far more than a model makes.
const maxBlocks = 512

func (m *message) begin() {
	m.ordinal++
	m.open = true
	m.blocks = m.blocks[:0]
}

func (m *message) close() { m.open = false }

// block returns the state of a block, which begins here where it is new.
func (m *message) block(k kind, index int64) *block {
	if !m.open {
		m.begin()
	}
	for i := len(m.blocks) - 1; i >= 0; i-- {
		if b := &m.blocks[i]; b.index == index && b.kind == k {
			return b
		}
	}
	if len(m.blocks) == maxBlocks {
		m.blocks = m.blocks[:0]
	}
	m.blocks = append(m.blocks, block{index: index, kind: k, name: m.name(index)})
	b := &m.blocks[len(m.blocks)-1]
	b.said.reset()
	return b
}

func (m *message) name(index int64) string {
	name := strconv.AppendInt(make([]byte, 0, 24), int64(m.ordinal), 10)
	return string(strconv.AppendInt(append(name, '.'), index, 10))
}

// messageUpdate reads one step of the assistant's answer, the most frequent line
// of all. Before pi 0.84.0 it carried the whole message so far, twice. The line
// itself is not kept: message_end holds all of it again, and a secret that is cut in two
// by two deltas could be masked in neither of their lines.
func (d *Dialect) messageUpdate(m jsonscan.Value, out *agent.Decoded) {
	d.turn.stirred()
	out.DropRaw = true
	step := m.Get("assistantMessageEvent")
	if m.Get("message").Exists() {
		d.outdated(out)
	} else if step.IsObject() {
		d.version.settles = true
	}
	typ, index := step.Get("type"), number(step.Get("contentIndex"))
	switch string(typ.Inner()) {
	case "text_delta":
		d.told(speech, index, step.Get("delta"), out)
	case "thinking_delta":
		d.told(thought, index, step.Get("delta"), out)
	case "text_end":
		d.ended(d.message.block(speech, index), step.Get("content"), out)
	case "thinking_end":
		d.ended(d.message.block(thought, index), step.Get("content"), out)
	case "text_start", "thinking_start", "toolcall_start", "toolcall_delta", "toolcall_end":
		// The call itself comes as tool_execution_start.
	default:
		out.DropRaw = false
		out.Add(event.AgentNoticed{What: "message_update " + typ.Text()})
	}
}

// told reports a delta as it is.
func (d *Dialect) told(k kind, index int64, delta jsonscan.Value, out *agent.Decoded) {
	if !delta.IsString() {
		return
	}
	b := d.message.block(k, index)
	b.final = false
	news := delta.Inner()
	half := highSurrogate(news)
	if len(b.carried) == 0 && half == nil {
		if len(news) > 0 {
			b.said.grow(news)
			out.Add(saying(k, b.name, delta.Raw(), false))
		}
		return
	}
	var char []byte
	if len(b.carried) > 0 && len(news) > 0 {
		var ok bool
		if char, news, ok = pair(b.carried, news); !ok {
			char = append(char, b.carried...)
		}
		b.carried = b.carried[:0]
	}
	if half != nil {
		b.carried = append(b.carried, half...)
		news = news[:len(news)-len(half)]
	}
	b.said.grow(char)
	b.said.grow(news)
	if len(char)+len(news) > 0 {
		out.Add(saying(k, b.name, d.quote(char, news), false))
	}
}

// ended closes a block with what its deltas have not said of the whole text,
// a string value. Where they have said something else, the whole text is said as
// a block of another name.
func (d *Dialect) ended(b *block, value jsonscan.Value, out *agent.Decoded) {
	whole := value.Inner()
	if !value.IsString() { // nothing to compare with
		if !b.final {
			b.final = true
			out.Add(saying(b.kind, b.name, nil, true))
		}
		return
	}
	if b.final && b.said.of(whole) && b.said.size == len(whole) {
		return
	}
	if !b.said.of(whole) {
		if !b.final {
			out.Add(saying(b.kind, b.name, nil, true))
		}
		b.name += "+"
		b.said.reset()
	}
	rest := whole[b.said.size:]
	b.said.grow(rest)
	b.carried, b.final = b.carried[:0], true
	var last []byte
	if len(rest) > 0 {
		last = d.quote(rest)
	}
	out.Add(saying(b.kind, b.name, last, true))
}

func saying(k kind, name string, value []byte, final bool) event.Payload {
	if k == thought {
		return event.AgentThought{Block: name, Text: event.Quoted(value), Final: final}
	}
	return event.AgentSaid{Block: name, Text: event.Quoted(value), Final: final}
}

func (d *Dialect) messageStart(m jsonscan.Value, out *agent.Decoded) {
	d.turn.stirred()
	msg := m.Get("message")
	switch string(msg.Get("role").Inner()) {
	case "assistant":
		// The model has been given the results of its tools: what has none by now never will.
		d.calls.Lose(out, func(agent.Call) bool { return true })
		d.message.begin()
	case "user":
		out.DropRaw = true
		d.userSaid(msg.Get("content"), out)
	case "system":
		out.DropRaw = true
		d.version.settles = true // these came with pi 0.87
	case "toolResult":
		out.DropRaw = true
	}
}

func (d *Dialect) messageEnd(m jsonscan.Value, out *agent.Decoded) {
	d.turn.stirred()
	msg := m.Get("message")
	switch string(msg.Get("role").Inner()) {
	case "assistant":
		// One that ends twice is one: it has not begun again, and its moment is the same.
		again := maphash.Bytes(seed, msg.Raw())
		if again == d.message.last && !d.message.open {
			out.Add(event.AgentNoticed{What: "message_end repeated"})
			return
		}
		d.message.last = again
		d.assistantSaid(msg, out)
	case "toolResult":
		d.toolResult(msg, out)
	}
}

// assistantSaid takes the whole message: what of it was not streamed is said
// now, and its stop reason is the turn's outcome until another message ends.
func (d *Dialect) assistantSaid(msg jsonscan.Value, out *agent.Decoded) {
	var content, usage, model jsonscan.Value
	end := ending{known: true}
	for key, value := range msg.Members() {
		switch string(key) {
		case "content":
			content = value
		case "usage":
			usage = value
		case "model":
			model = value
		case "stopReason":
			end.reason = value.Text()
		case "errorMessage":
			end.message = value.Text()
		case "diagnostics":
			end.status = diagnosed(value)
		case "rawStopReason":
			end.raw = value.Text()
		}
	}
	if !d.message.open {
		d.message.begin()
	}
	empty := true
	index := int64(0)
	for part := range content.Items() {
		empty = false
		switch string(part.Get("type").Inner()) {
		case "text":
			d.saidWhole(speech, index, part.Get("text"), out)
		case "thinking":
			d.saidWhole(thought, index, part.Get("thinking"), out)
		}
		index++
	}
	for i := range d.message.blocks { // streamed, and not kept in the message
		if b := &d.message.blocks[i]; !b.final {
			b.final = true
			out.Add(saying(b.kind, b.name, nil, true))
		}
	}
	d.message.close()
	d.used(usage, model, empty, out)
	d.turn.last = end
}

// diagnosed returns the HTTP status in a message's diagnostics, 0 where there is none.
func diagnosed(list jsonscan.Value) (status int) {
	for item := range list.Items() {
		if n := number(item.Get("details", "status")); n >= 400 && n <= 599 {
			status = int(n)
		}
	}
	return status
}

// saidWhole closes the block that a part of the whole message is: the one with
// its index, or any with its very text, should pi have left out an empty part
// before it.
func (d *Dialect) saidWhole(k kind, index int64, value jsonscan.Value, out *agent.Decoded) {
	whole := value.Inner()
	var found *block
	for i := range d.message.blocks {
		b := &d.message.blocks[i]
		if b.matched || b.kind != k {
			continue
		}
		if b.said.of(whole) && (b.index == index || b.said.size == len(whole) && len(whole) > 0) {
			found = b
			break
		}
		if b.index == index {
			found = b
		}
	}
	if found == nil {
		if len(whole) == 0 {
			return
		}
		found = d.message.block(k, index)
	}
	found.matched = true
	d.ended(found, value, out)
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
		unread = unread || !named // it tells something, under other names
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
