package codex

import (
	"strconv"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
)

// kind is what a block of text is.
type kind uint8

const (
	speech  kind = iota
	summary      // of the reasoning
	thought      // the reasoning itself
)

// message is one item of Codex that holds text.
type message struct {
	ordinal int
	parent  string // the call of the subagent that writes it
	item    string
	blocks  []*block
}

type block struct {
	agent.Block
	kind  kind
	index int64
}

// messages are those that are being written, by their parents. They are numbered through the life
// of the process, so that no two blocks have the same name.
type messages struct {
	count int
	open  map[string]*message
}

// Far more than a model makes at a time.
const (
	messagesMost = 64
	blocksMost   = 512
)

func (ms *messages) reset() { ms.open = map[string]*message{} }

// of returns the message of an item, which begins here if it is new. An open message of the same
// parent is over then: a steer cuts off what is being written.
func (ms *messages) of(item jsonscan.Value, parent string, out *agent.Decoded) *message {
	m := ms.open[parent]
	if m != nil && item.Says(m.item) {
		return m
	}
	ms.close(out, parent)
	if len(ms.open) == messagesMost {
		clear(ms.open)
	}
	ms.count++
	m = &message{ordinal: ms.count, parent: parent, item: item.Text()}
	ms.open[parent] = m
	return m
}

// close ends the open message of one parent.
func (ms *messages) close(out *agent.Decoded, parent string) {
	if m := ms.open[parent]; m != nil {
		m.close(out)
		delete(ms.open, parent)
	}
}

func (m *message) close(out *agent.Decoded) {
	for _, b := range m.blocks {
		b.Close(out)
	}
}

// block returns a part of the message, which begins here if it is new.
func (m *message) block(k kind, index int64) *block {
	for _, b := range m.blocks {
		if b.kind == k && b.index == index {
			return b
		}
	}
	if len(m.blocks) == blocksMost {
		m.blocks = m.blocks[:0]
	}
	name := strconv.Itoa(m.ordinal) + "." + strconv.Itoa(len(m.blocks))
	b := &block{agent.Block{Name: name, Parent: m.parent, Thought: k != speech}, k, index}
	m.blocks = append(m.blocks, b)
	return b
}

// end closes the blocks of complete texts.
func (m *message) end(k kind, texts jsonscan.Value, out *agent.Decoded) {
	index := int64(0)
	for text := range texts.Items() {
		m.block(k, index).End(text, out)
		index++
	}
}

// delta reports a delta as it is. The line itself is not kept: the item's end repeats it, and a
// secret that is cut in two by two deltas could be masked in neither line.
func (d *Dialect) delta(k kind, p jsonscan.Value, out *agent.Decoded) {
	text := deltaText(p)
	if !text.IsString() || !d.working() {
		return
	}
	out.DropRaw = true
	if len(text.Inner()) == 0 {
		return
	}
	d.turn.retries = 0
	_, parent := d.of(p.Get("threadId"))
	index := agent.Int(p.Get("summaryIndex")) + agent.Int(p.Get("contentIndex"))
	if b := d.messages.of(p.Get("itemId"), parent, out).block(k, index); !b.Final {
		b.Say(out, text.Inner())
	}
}

// deltaText is what is new of a text.
func deltaText(p jsonscan.Value) jsonscan.Value {
	if text := p.Get("delta"); text.Exists() {
		return text
	}
	return p.Get("message")
}
