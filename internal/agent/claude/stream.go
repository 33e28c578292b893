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

	// With --include-partial-messages, the block that is being written.
	writing  bool
	index    int    // of that block
	streamed string // its name, once something of it was said
	text     []byte // what was said of it
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
		s.id, s.blocks, s.used, s.writing = string(id), 0, use{}, false
		s.forget()
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

// next names the next block of a message: <message>.<index>. A block that is being streamed has its index already; its
// event comes before content_block_stop.
func (s *stream) next(id []byte) string {
	s.enter(id)
	index := s.blocks
	if s.writing {
		index = s.index
		if s.streamed != "" {
			s.blocks = max(s.blocks, index+1)
			return s.streamed
		}
	}
	s.blocks = max(s.blocks, index+1)
	return s.name(index)
}

func (s *stream) name(index int) string {
	var room [64]byte
	name := append(room[:0], s.id...)
	return string(strconv.AppendInt(append(name, '.'), int64(index), 10))
}

func (s *stream) forget() {
	if s.streamed, s.text = "", s.text[:0]; cap(s.text) > keptScratch {
		s.text = nil
	}
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
		s.writing, s.index = true, int(n)
		s.forget()
	case "content_block_stop":
		s.writing = false
		s.forget()
	}
	out.Add(event.AgentNoticed{What: out.Name("stream_event/", typ)})
}

// delta says what is new of the block that is being written. The line is not kept: the block's own event holds it all
// again, and a secret that is cut in two by two deltas could be masked in neither of their lines.
func (d *Dialect) delta(s *stream, delta jsonscan.Value, out *agent.Decoded) {
	typ, words := delta.Get("type"), delta.Get("text")
	if !words.Exists() {
		words = delta.Get("thinking")
	}
	aloud := typ.Is("text_delta")
	if !aloud && !typ.Is("thinking_delta") || !words.IsString() || !s.writing {
		out.DropRaw = typ.Is("input_json_delta") // a piece of a text as well; the call's own event holds all of it
		out.Add(event.AgentNoticed{What: out.Name("stream_event/", typ)})
		return
	}
	if s.streamed == "" {
		s.streamed = s.name(s.index)
	}
	s.text = jsonscan.AppendUnquoted(s.text, words.Raw())
	out.DropRaw = true
	if aloud {
		out.Add(event.AgentSaid{Block: s.streamed, Text: event.Quoted(words.Raw()), Parent: s.parent})
	} else {
		out.Add(event.AgentThought{Block: s.streamed, Text: event.Quoted(words.Raw()), Parent: s.parent})
	}
}
