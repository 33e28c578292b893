package agent

import (
	"bytes"
	"slices"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/internal/ground/redact"
	"github.com/ralph-loop/ralph/journal/event"
)

// noticeStderr is what dialects of free text call a line of standard error.
const noticeStderr = "stderr"

// streamRedactor masks texts that come in pieces, each as part of the complete text: a secret that
// is cut in two by two pieces could be recognised in neither. Withheld text comes with the next
// piece or, at the latest, when the text ends: with its last piece, with what follows it in the
// same conversation, or with the turn.
//
// Several texts may be open at a time: the assistant's, each subagent's, what each tool prints, and
// what the process prints that no dialect understands, line by line.
type streamRedactor struct {
	secrets *redact.Redactor // nil masks nothing
	open    []*pieces
	scratch []byte
	quoted  []byte // a text that is valid during the call that gets it
}

// pieces is one text that comes in pieces.
type pieces struct {
	kind   event.Type
	name   string // of the block, the tool's call or the stream
	parent string
	stream *redact.Stream
	line   []byte // of lines: the beginning of one whose rest is withheld
}

// pass takes a fact and passes on what is released now.
func (r *streamRedactor) pass(fact event.Payload, on func(event.Payload)) {
	if r.secrets == nil {
		on(fact)
		return
	}
	switch p := fact.(type) {
	case event.AgentSaid:
		r.piece(fact, p, on)
	case event.AgentThought:
		r.piece(fact, event.AgentSaid(p), on)
	case event.ToolProgressed:
		r.progressed(p, on)
	case event.AgentUnparsed:
		r.line(fact, p.Line.AppendTo(r.scratch[:0]), p.Stream, on)
	case event.AgentNoticed:
		if p.What != noticeStderr {
			on(fact)
			return
		}
		r.line(fact, append(r.scratch[:0], p.Text...), p.What, on)
	case event.ToolCalled:
		r.end(on, func(t *pieces) bool { return t.conversation() && t.parent == p.Parent })
		on(fact)
	case event.ToolReturned:
		r.end(on, func(t *pieces) bool { return t.kind == event.TypeToolProgressed && t.name == p.ID })
		on(fact)
	case event.AgentFinished:
		r.flush(on)
		on(fact)
	default:
		on(fact)
	}
}

// piece takes a piece of a block. It ends the other block of the same conversation.
func (r *streamRedactor) piece(fact event.Payload, p event.AgentSaid, on func(event.Payload)) {
	kind := fact.EventType()
	r.end(on, func(t *pieces) bool {
		return t.conversation() && t.parent == p.Parent && (t.kind != kind || t.name != p.Block)
	})
	t := r.text(kind, p.Block, p.Parent)
	out, same := r.write(t, p.Text)
	if p.Final {
		if rest := t.stream.Flush(); len(rest) > 0 {
			out, same = append(bytes.Clone(out), rest...), false
		}
		r.close(t)
	}
	if same {
		on(fact)
		return
	}
	if p.Text = r.quote(out); len(out) == 0 && !p.Final {
		return
	}
	if kind == event.TypeAgentThought {
		on(event.AgentThought(p))
		return
	}
	on(p)
}

func (r *streamRedactor) progressed(p event.ToolProgressed, on func(event.Payload)) {
	if p.Text.IsZero() && !p.Replaced { // a sign of life
		on(p)
		return
	}
	t := r.text(event.TypeToolProgressed, p.ID, "")
	if p.Replaced {
		t.stream.Flush() // the text holds all of it again
	}
	out, same := r.write(t, p.Text)
	if same {
		on(p)
		return
	}
	if p.Text = r.quote(out); len(out) > 0 || p.Replaced {
		on(p)
	}
}

// line takes a fact whose line, which is in scratch, may be one of several that hold a secret.
func (r *streamRedactor) line(fact event.Payload, line []byte, name string, on func(event.Payload)) {
	if len(line) == 0 {
		on(fact)
		return
	}
	t := r.text(fact.EventType(), name, "")
	r.scratch = append(line, '\n')
	out := t.stream.Write(r.scratch)
	if len(t.line) == 0 && bytes.Equal(out, r.scratch) {
		on(fact)
		return
	}
	t.line = append(t.line, out...)
	if n := bytes.LastIndexByte(t.line, '\n'); n >= 0 {
		on(t.fact(t.line[:n]))
		t.line = t.line[:copy(t.line, t.line[n+1:])]
	}
}

// write adds a piece to its text. same says that it is released unchanged.
func (r *streamRedactor) write(t *pieces, piece event.Text) (out []byte, same bool) {
	r.scratch = piece.AppendTo(r.scratch[:0])
	out = t.stream.Write(r.scratch)
	return out, bytes.Equal(out, r.scratch)
}

func (r *streamRedactor) quote(text []byte) event.Text {
	r.quoted = jsonscan.AppendStringBytes(r.quoted[:0], text)
	return event.Quoted(r.quoted)
}

func (t *pieces) conversation() bool {
	return t.kind == event.TypeAgentSaid || t.kind == event.TypeAgentThought
}

// text returns the open text of that name.
func (r *streamRedactor) text(kind event.Type, name, parent string) *pieces {
	for _, t := range r.open {
		if t.kind == kind && t.name == name && t.parent == parent {
			return t
		}
	}
	t := &pieces{kind: kind, name: name, parent: parent, stream: r.secrets.Stream()}
	r.open = append(r.open, t)
	return t
}

// close forgets a text that has ended.
func (r *streamRedactor) close(ended *pieces) {
	r.open = slices.DeleteFunc(r.open, func(t *pieces) bool { return t == ended })
}

// end passes on what is withheld of the texts that have ended.
func (r *streamRedactor) end(on func(event.Payload), over func(*pieces) bool) {
	r.open = slices.DeleteFunc(r.open, func(t *pieces) bool {
		ended := over(t)
		if ended {
			if t.line = append(t.line, t.stream.Flush()...); len(t.line) > 0 {
				on(t.fact(t.line))
			}
		}
		return ended
	})
}

// flush passes on all that is withheld.
func (r *streamRedactor) flush(on func(event.Payload)) {
	r.end(on, func(*pieces) bool { return true })
}

// fact returns the end of a text as an event.
func (t *pieces) fact(text []byte) event.Payload {
	plain := event.Plain(string(text))
	switch t.kind {
	case event.TypeToolProgressed:
		return event.ToolProgressed{ID: t.name, Text: plain}
	case event.TypeAgentUnparsed:
		return event.AgentUnparsed{Line: event.Plain(string(bytes.TrimSuffix(text, []byte("\n")))), Stream: t.name}
	case event.TypeAgentNoticed:
		return event.AgentNoticed{What: t.name, Text: string(bytes.TrimSuffix(text, []byte("\n")))}
	case event.TypeAgentThought:
		return event.AgentThought{Block: t.name, Parent: t.parent, Text: plain}
	}
	return event.AgentSaid{Block: t.name, Parent: t.parent, Text: plain}
}
