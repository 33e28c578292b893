package claude

import (
	"slices"
	"strconv"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// stream is the messages of one speaker, which come one after another: those of the assistant itself, or of the subagent
// under one tool call.
type stream struct {
	parent string // the tool call; empty for the assistant itself
	id     string // of the message
	blocks int    // of that message, so far
	used   use    // of that message, as far as it was told

	// With --include-partial-messages, the block that is being written, and what was said of those of the message that are not
	// whole yet.
	writing bool
	index   int
	said    []piece
	current int // the place among them, from 1, of the block that is being written; 0 where it is not known
}

// piece is the beginning of a block.
type piece struct {
	name string
	text []byte
}

// streams are the speakers that may be at work. There are more than one where subagents are.
type streams []*stream

// keptStreams bounds them against subagents whose end is never told.
const keptStreams = 256

// of returns the stream of a speaker, named by a string value; of null and of nothing, the assistant's.
func (ss *streams) of(parent jsonscan.Value) *stream {
	for _, s := range *ss {
		if string(parent.Inner()) == s.parent {
			return s
		}
	}
	if len(*ss) == keptStreams {
		*ss = slices.Delete(*ss, 0, 1)
	}
	s := &stream{parent: parent.Text()}
	*ss = append(*ss, s)
	return s
}

// drop forgets the subagent under a tool call that has returned.
func (ss *streams) drop(parent string) {
	for i, s := range *ss {
		if s.parent == parent && parent != "" {
			*ss = slices.Delete(*ss, i, i+1)
			return
		}
	}
}

// enter begins another message, if it is another one.
func (s *stream) enter(id []byte) {
	if string(id) != s.id {
		s.id, s.blocks, s.used, s.writing, s.said, s.current = string(id), 0, use{}, false, s.said[:0], 0
	}
}

// enter begins another message of a speaker, if it is another one. The API takes the results of a message's tools before it
// gives another: a call that has none by now never will.
func (d *Dialect) enter(s *stream, id []byte, out *agent.Decoded) {
	if string(id) != s.id {
		d.calls.Lose(out, func(c agent.Call) bool { return c.Parent == s.parent })
		s.enter(id)
	}
}

// next names the next block of a message: <message>.<index>. A block that is being streamed has its index already: 2.1.329
// prints it before its content_block_stop.
func (s *stream) next(id []byte) string {
	s.enter(id)
	index := s.blocks
	if s.writing {
		index = s.index
	}
	s.blocks = max(s.blocks, index+1)
	return s.name(index)
}

func (s *stream) name(index int) string {
	var room [64]byte
	name := append(room[:0], s.id...)
	return string(strconv.AppendInt(append(name, '.'), int64(index), 10))
}

// begun returns what was said of the block that is being written.
func (s *stream) begun() *piece {
	if s.current > 0 {
		return &s.said[s.current-1]
	}
	name := s.name(s.index)
	for i := range s.said {
		if s.said[i].name == name {
			s.current = i + 1
			return &s.said[i]
		}
	}
	if n := len(s.said); n < cap(s.said) {
		s.said = s.said[:n+1]
	} else {
		s.said = append(s.said, piece{})
	}
	s.current = len(s.said)
	p := &s.said[s.current-1]
	p.name, p.text = name, p.text[:0]
	return p
}

// take returns what was said of a block by its name, until the next piece, and forgets it.
func (s *stream) take(name string) (text []byte, streamed bool) {
	for i := range s.said {
		if s.said[i].name != name {
			continue
		}
		p := s.said[i]
		s.current = 0
		if copy(s.said[i:], s.said[i+1:]); cap(p.text) > keptScratch {
			s.said[len(s.said)-1] = piece{}
		} else {
			s.said[len(s.said)-1] = p
		}
		s.said = s.said[:len(s.said)-1]
		return p.text, true
	}
	return nil, false
}

// streamEvent reads an event of the API's own stream, which Claude passes on with --include-partial-messages.
func (d *Dialect) streamEvent(m jsonscan.Value, out *agent.Decoded) {
	s := d.streams.of(m.Get("parent_tool_use_id"))
	about := m.Get("event")
	typ := about.Get("type")
	switch string(typ.Inner()) {
	case "content_block_delta":
		d.delta(s, about.Get("delta"), out)
		return
	case "message_start":
		message := about.Get("message")
		d.enter(s, message.Get("id").Inner(), out)
		d.toldUse(s, message.Get("model"), message.Get("usage"))
	case "message_delta":
		d.toldUse(s, jsonscan.Value{}, about.Get("usage"))
	case "content_block_start":
		n, _ := about.Get("index").Int()
		s.writing, s.index, s.current = true, int(n), 0
		out.DropRaw = true
		return
	case "content_block_stop":
		s.writing, out.DropRaw = false, true
		return
	case "message_stop", "ping":
		out.DropRaw = true
		return
	}
	out.Add(event.AgentNoticed{What: out.Name("stream_event/", typ)})
}

// delta says what is new of the block that is being written. The line is not kept: the block's own event holds it all
// again, and a secret that is cut in two by two deltas could be masked in neither of their lines.
func (d *Dialect) delta(s *stream, delta jsonscan.Value, out *agent.Decoded) {
	out.DropRaw = true
	typ := delta.Get("type")
	var words jsonscan.Value
	switch string(typ.Inner()) {
	case "text_delta":
		words = delta.Get("text")
	case "thinking_delta":
		words = delta.Get("thinking")
	case "input_json_delta", "signature_delta": // the call is told when it is whole, a signature says nothing
		return
	}
	if !words.IsString() || !s.writing {
		out.Add(event.AgentNoticed{What: out.Name("stream_event/", typ)})
		return
	}
	p := s.begun()
	p.text = jsonscan.AppendUnquoted(p.text, words.Raw())
	if typ.Is("text_delta") {
		out.Add(event.AgentSaid{Block: p.name, Text: event.Quoted(words.Raw()), Parent: s.parent})
	} else {
		out.Add(event.AgentThought{Block: p.name, Text: event.Quoted(words.Raw()), Parent: s.parent})
	}
}
