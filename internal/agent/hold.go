package agent

import (
	"github.com/ralph-loop/ralph/journal/event"
)

// holder keeps back the end of streamed text that may be the beginning of a
// secret, so that the secret reaches the journal in one piece and is masked there. A
// value that is cut in two by two deltas could be recognised in neither.
//
// What is kept back comes with the next delta of its block or, at the latest, before
// whatever else the agent does.
type holder struct {
	back func(text []byte) int // how many bytes at the end to keep back; nil for none

	kind   event.Type
	block  string
	parent string
	text   []byte // kept back
}

// pass takes a fact and hands on what may be known now.
func (h *holder) pass(fact event.Payload, on func(event.Payload)) {
	if h.back == nil {
		on(fact)
		return
	}
	switch p := fact.(type) {
	case event.AgentSaid:
		h.delta(p, p, on)
	case event.AgentThought:
		h.delta(p, event.AgentSaid(p), on)
	default:
		h.flush(on)
		on(fact)
	}
}

// delta joins a piece of text to what was kept back of its block.
func (h *holder) delta(fact event.Payload, p event.AgentSaid, on func(event.Payload)) {
	if len(h.text) > 0 && (h.kind != fact.EventType() || h.block != p.Block || h.parent != p.Parent) {
		h.flush(on)
	}
	if p.Final && len(h.text) == 0 {
		on(fact)
		return
	}
	text := p.Text.AppendTo(h.text) // what it appends lies behind what is kept back
	keep := 0
	if !p.Final {
		keep = h.back(text)
	}
	if keep == 0 && len(h.text) == 0 {
		h.text = text[:0] // for the next one
		on(fact)
		return
	}
	known := len(text) - keep
	p.Text = event.Plain(string(text[:known]))
	h.kind, h.block, h.parent = fact.EventType(), p.Block, p.Parent
	h.text = append(h.text[:0], text[known:]...)
	if known > 0 || p.Final {
		on(h.said(p))
	}
}

// flush hands on what is kept back.
func (h *holder) flush(on func(event.Payload)) {
	if len(h.text) == 0 {
		return
	}
	p := event.AgentSaid{Block: h.block, Parent: h.parent, Text: event.Plain(string(h.text))}
	h.text = h.text[:0]
	on(h.said(p))
}

// said returns p as the type of event that the block is of.
func (h *holder) said(p event.AgentSaid) event.Payload {
	if h.kind == event.TypeAgentThought {
		return event.AgentThought(p)
	}
	return p
}
