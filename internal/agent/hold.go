package agent

import (
	"bytes"

	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/internal/secret"
	"github.com/ralph-loop/ralph/journal/event"
)

// noticeStderr is what dialects of free text call a line of standard error.
const noticeStderr = "stderr"

// holder masks texts that come in pieces, each as the whole that it is a part of: a secret that is cut in two by two pieces could
// be recognised in neither. What the masking withholds of a text comes with its next piece or, at the latest, when the text ends: with
// its last piece, with what follows it of the same conversation, or with the turn.
//
// Several texts may be open at a time: the assistant's, each subagent's, what each tool prints, and what the process
// prints that no dialect understands, line by line.
type holder struct {
	secrets *secret.Masker // nil hides nothing
	open    []*openText
	free    []*openText // to be used again
	scratch []byte
	quoted  []byte // a text that lives as long as the call that it is handed on with
}

// openText is one text in pieces.
type openText struct {
	kind   event.Type
	name   string // of the block, the tool's call or the stream
	parent string
	stream *secret.Stream
	line   []byte // of lines: the beginning of one whose rest is withheld
}

// pass takes a fact and hands on what may be known now.
func (h *holder) pass(fact event.Payload, on func(event.Payload)) {
	if h.secrets == nil {
		on(fact)
		return
	}
	switch p := fact.(type) {
	case event.AgentSaid:
		h.said(fact, p, on)
	case event.AgentThought:
		h.said(fact, event.AgentSaid(p), on)
	case event.ToolProgressed:
		h.progressed(p, on)
	case event.AgentUnread:
		h.unread(p, on)
	case event.AgentNoticed:
		h.noticed(p, on)
	case event.ToolCalled:
		h.end(on, func(t *openText) bool { return t.conversation() && t.parent == p.Parent })
		on(fact)
	case event.ToolReturned:
		h.end(on, func(t *openText) bool { return t.kind == event.TypeToolProgressed && t.name == p.ID })
		on(fact)
	case event.AgentFinished:
		h.flush(on)
		on(fact)
	default:
		on(fact)
	}
}

// said takes a piece of a block. Another block of the same conversation has ended with it.
func (h *holder) said(fact event.Payload, p event.AgentSaid, on func(event.Payload)) {
	kind := fact.EventType()
	h.end(on, func(t *openText) bool {
		return t.conversation() && t.parent == p.Parent && (t.kind != kind || t.name != p.Block)
	})
	t := h.text(kind, p.Block, p.Parent)
	out, same := h.write(t, p.Text)
	if p.Final {
		if rest := t.stream.Flush(); len(rest) > 0 {
			out, same = append(bytes.Clone(out), rest...), false
		}
		h.close(t)
	}
	if same {
		on(fact)
		return
	}
	if p.Text = h.quote(out); len(out) > 0 || p.Final {
		on(spoken(kind, p))
	}
}

func (h *holder) progressed(p event.ToolProgressed, on func(event.Payload)) {
	if p.Text.IsZero() && !p.Replaced { // a sign of life
		on(p)
		return
	}
	t := h.text(event.TypeToolProgressed, p.ID, "")
	if p.Replaced {
		t.stream.Flush() // the text holds all of it again
	}
	out, same := h.write(t, p.Text)
	if same {
		on(p)
		return
	}
	if p.Text = h.quote(out); len(out) > 0 || p.Replaced {
		on(p)
	}
}

// unread takes a line that no dialect understands.
func (h *holder) unread(p event.AgentUnread, on func(event.Payload)) {
	h.scratch = p.Line.AppendTo(h.scratch[:0])
	h.line(p, event.TypeAgentUnread, p.Stream, on)
}

// noticed takes a line of standard error, which may be one of several that hold a secret as well.
func (h *holder) noticed(p event.AgentNoticed, on func(event.Payload)) {
	if p.What != noticeStderr {
		on(p)
		return
	}
	h.scratch = append(h.scratch[:0], p.Text...)
	h.line(p, event.TypeAgentNoticed, p.What, on)
}

// line takes a fact whose line, in scratch, may be one of several that hold a secret.
func (h *holder) line(fact event.Payload, kind event.Type, name string, on func(event.Payload)) {
	if len(h.scratch) == 0 {
		on(fact)
		return
	}
	t := h.text(kind, name, "")
	h.scratch = append(h.scratch, '\n')
	out := t.stream.Write(h.scratch)
	if len(t.line) == 0 && bytes.Equal(out, h.scratch) {
		on(fact)
		return
	}
	t.line = append(t.line, out...)
	if n := bytes.LastIndexByte(t.line, '\n'); n >= 0 {
		on(t.fact(t.line[:n]))
		t.line = t.line[:copy(t.line, t.line[n+1:])]
	}
}

// write puts a piece into its text. same says that it comes out as it is.
func (h *holder) write(t *openText, piece event.Text) (out []byte, same bool) {
	h.scratch = piece.AppendTo(h.scratch[:0])
	out = t.stream.Write(h.scratch)
	return out, bytes.Equal(out, h.scratch)
}

func (h *holder) quote(text []byte) event.Text {
	h.quoted = jsonscan.AppendStringBytes(h.quoted[:0], text)
	return event.Quoted(h.quoted)
}

func (t *openText) conversation() bool {
	return t.kind == event.TypeAgentSaid || t.kind == event.TypeAgentThought
}

// text returns the open text of that name.
func (h *holder) text(kind event.Type, name, parent string) *openText {
	for _, t := range h.open {
		if t.kind == kind && t.name == name && t.parent == parent {
			return t
		}
	}
	t := &openText{}
	if n := len(h.free); n > 0 {
		t, h.free = h.free[n-1], h.free[:n-1]
	} else {
		t.stream = h.secrets.Stream()
	}
	t.kind, t.name, t.parent = kind, name, parent
	h.open = append(h.open, t)
	return t
}

// close forgets a text that has ended.
func (h *holder) close(ended *openText) {
	for i, t := range h.open {
		if t == ended {
			h.open = append(h.open[:i], h.open[i+1:]...)
			h.free = append(h.free, t)
			return
		}
	}
}

// end hands on what is withheld of the texts that have ended.
func (h *holder) end(on func(event.Payload), over func(*openText) bool) {
	kept := h.open[:0]
	for _, t := range h.open {
		if !over(t) {
			kept = append(kept, t)
			continue
		}
		t.line = append(t.line, t.stream.Flush()...)
		if len(t.line) > 0 {
			on(t.fact(t.line))
			t.line = t.line[:0]
		}
		h.free = append(h.free, t)
	}
	h.open = kept
}

// flush hands on all that is withheld.
func (h *holder) flush(on func(event.Payload)) {
	h.end(on, func(*openText) bool { return true })
}

// fact returns the end of a text as an event.
func (t *openText) fact(text []byte) event.Payload {
	plain := event.Plain(string(text))
	switch t.kind {
	case event.TypeToolProgressed:
		return event.ToolProgressed{ID: t.name, Text: plain}
	case event.TypeAgentUnread:
		return event.AgentUnread{Line: event.Plain(string(bytes.TrimSuffix(text, []byte("\n")))), Stream: t.name}
	case event.TypeAgentNoticed:
		return event.AgentNoticed{What: t.name, Text: string(bytes.TrimSuffix(text, []byte("\n")))}
	default:
		return spoken(t.kind, event.AgentSaid{Block: t.name, Parent: t.parent, Text: plain})
	}
}

// spoken returns p as the type of event that the block is of.
func spoken(kind event.Type, p event.AgentSaid) event.Payload {
	if kind == event.TypeAgentThought {
		return event.AgentThought(p)
	}
	return p
}
