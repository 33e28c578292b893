package agent

import (
	"bytes"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// Block is one block of text or thinking that comes in pieces and is repeated at its end. Texts are
// compared as JSON spells them, without their quotes.
type Block struct {
	Name    string
	Parent  string // the call of the subagent that writes it
	Thought bool
	Final   bool
	written []byte
}

// Continues reports whether text begins with what was said, and all whether nothing follows it.
func (b *Block) Continues(text []byte) (continues, all bool) {
	return bytes.HasPrefix(text, b.written), len(text) == len(b.written)
}

// Say adds a piece of the block, in parts of a string value.
func (b *Block) Say(out *Decoded, parts ...[]byte) {
	for _, part := range parts {
		b.written = append(b.written, part...)
	}
	b.Final = false
	b.add(out, out.Quote(parts...))
}

// End closes the block with the part of the complete text that was not said. If another text was
// said, the complete text is said as a block of another name.
func (b *Block) End(text jsonscan.Value, out *Decoded) {
	if !text.IsString() { // nothing to compare with
		b.Close(out)
		return
	}
	continues, all := b.Continues(text.Inner())
	if b.Final && continues && all {
		return
	}
	if !continues {
		b.Close(out)
		b.Name += "+"
		b.written = b.written[:0]
	}
	rest := text.Inner()[len(b.written):]
	b.written, b.Final = append(b.written, rest...), true
	if len(rest) > 0 {
		b.add(out, out.Quote(rest))
		return
	}
	b.add(out, nil)
}

// Close ends a block whose complete text is not known.
func (b *Block) Close(out *Decoded) {
	if !b.Final {
		b.Final = true
		b.add(out, nil)
	}
}

func (b *Block) add(out *Decoded, text event.Text) {
	out.Say(event.AgentSaid{Block: b.Name, Text: text, Final: b.Final, Parent: b.Parent}, b.Thought)
}
