package codex

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// kind is what a block of text is.
type kind uint8

const (
	speech  kind = iota
	summary      // of the reasoning
	thought      // the reasoning itself
)

// block is one run of text or of reasoning. Texts are compared as JSON spells them, without their quotes: Codex
// spells a text the same whenever it repeats it, and never cuts a character in two.
type block struct {
	kind  kind
	index int64
	name  string
	said  []byte
	final bool
}

// message is one item of Codex that holds text.
type message struct {
	ordinal int
	parent  string // the call of the subagent whose it is
	item    string
	blocks  []block
	first   [1]block // memory of the first, beyond which most have none
}

// messages are those that are being told. They are numbered through the life of the process, so that a block's
// name is never used twice.
type messages struct {
	count int
	open  []*message
}

// Far more than a model makes at a time.
const (
	messagesMost = 64
	blocksMost   = 512
)

func (ms *messages) reset() { ms.open = nil }

// of returns the message that an item is, which begins here where it is new. One that the same voice had not ended is over then:
// a steer cuts off what is being written, and nothing more is told of it.
func (ms *messages) of(item jsonscan.Value, parent string, out *agent.Decoded) *message {
	for _, m := range ms.open {
		if m.parent == parent && item.Says(m.item) {
			return m
		}
	}
	ms.close(out, parent)
	if len(ms.open) == messagesMost {
		ms.open = slices.Delete(ms.open, 0, 1)
	}
	ms.count++
	m := &message{ordinal: ms.count, parent: parent, item: item.Text()}
	m.blocks = m.first[:0]
	ms.open = append(ms.open, m)
	return m
}

// close ends the message of one voice that is being told.
func (ms *messages) close(out *agent.Decoded, parent string) {
	ms.open = slices.DeleteFunc(ms.open, func(m *message) bool {
		if m.parent == parent {
			m.close(out)
		}
		return m.parent == parent
	})
}

func (ms *messages) done(m *message) {
	ms.open = slices.DeleteFunc(ms.open, func(o *message) bool { return o == m })
}

func (m *message) close(out *agent.Decoded) {
	for i := range m.blocks {
		if b := &m.blocks[i]; !b.final {
			b.final = true
			out.Add(m.saying(b, nil, true))
		}
	}
}

// block returns a part of the message, which begins here where it is new.
func (m *message) block(k kind, index int64) *block {
	for i := range m.blocks {
		if b := &m.blocks[i]; b.kind == k && b.index == index {
			return b
		}
	}
	if len(m.blocks) == blocksMost {
		m.blocks = m.blocks[:0]
	}
	name := strconv.Itoa(m.ordinal) + "." + strconv.Itoa(len(m.blocks))
	m.blocks = append(m.blocks, block{kind: k, index: index, name: name})
	return &m.blocks[len(m.blocks)-1]
}

func (m *message) saying(b *block, value []byte, final bool) event.Payload {
	said := event.AgentSaid{Block: b.name, Text: event.Quoted(value), Final: final, Parent: m.parent}
	if b.kind != speech {
		return event.AgentThought(said)
	}
	return said
}

// told reports a delta as it is. The line itself is not kept: the item's end holds all of it again, and a secret that is cut in
// two by two deltas could be masked in neither of their lines.
func (d *Dialect) told(k kind, p *params, out *agent.Decoded) {
	if !p.delta.IsString() || !d.working() {
		return
	}
	out.DropRaw = true
	news := p.delta.Inner()
	if len(news) == 0 {
		return
	}
	d.turn.retries = 0
	_, parent := d.of(p.thread)
	m := d.messages.of(p.itemID, parent, out)
	b := m.block(k, p.index)
	if b.final {
		return // after its end there is nothing to add
	}
	b.said = append(b.said, news...)
	out.Add(m.saying(b, p.delta.Raw(), false))
}

// whole closes a block with what its deltas have not said of its text. Where they have said something else, the whole text is said as a
// block of another name.
func (d *Dialect) whole(m *message, k kind, index int64, value jsonscan.Value, out *agent.Decoded) {
	if !value.IsString() {
		return
	}
	b, all := m.block(k, index), value.Inner()
	if !bytes.HasPrefix(all, b.said) {
		if !b.final {
			out.Add(m.saying(b, nil, true))
		}
		b.name += "+"
		b.said, b.final = nil, false
	}
	if b.final {
		return
	}
	var rest []byte
	if news := all[len(b.said):]; len(news) > 0 {
		rest = d.quote(news)
	}
	b.said, b.final = nil, true
	out.Add(m.saying(b, rest, true))
}

// texts closes the blocks that a list of texts is.
func (d *Dialect) texts(m *message, k kind, list jsonscan.Value, out *agent.Decoded) {
	index := int64(0)
	for item := range list.Items() {
		d.whole(m, k, index, item, out)
		index++
	}
}

// quote joins parts of a text to a string value in the scratch memory.
func (d *Dialect) quote(parts ...[]byte) []byte {
	start := len(d.scratch)
	d.scratch = append(d.scratch, '"')
	for _, part := range parts {
		d.scratch = append(d.scratch, part...)
	}
	d.scratch = append(d.scratch, '"')
	return d.scratch[start:len(d.scratch):len(d.scratch)]
}
