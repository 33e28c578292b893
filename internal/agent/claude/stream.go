package claude

import (
	"strconv"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// stream is the messages of the assistant, or of the subagent under one tool call.
type stream struct {
	parent   string // the tool call; empty for the assistant itself
	id       string // of the message
	blocks   int    // of that message, so far
	model    string
	used     use  // of that message, as far as Claude said
	reported use  // of it, what facts report
	whole    bool // its message_delta will say all

	// With --include-partial-messages: the block that is being written, "" for none, and what was
	// said of the blocks that are not complete.
	writing  string
	index    int
	streamed map[string][]byte
}

// streams are those of the assistant and of subagents that may be at work, by the tool calls.
type streams map[string]*stream

// keptStreams bounds them against subagents whose end is never reported.
const keptStreams = 256

// of returns the stream of the subagent under a call, or that of the assistant if parent is null or
// absent.
func (ss streams) of(parent jsonscan.Value) *stream {
	s := ss[string(parent.Inner())]
	if s == nil {
		if len(ss) == keptStreams {
			clear(ss)
		}
		s = &stream{parent: parent.Text(), streamed: map[string][]byte{}}
		ss[string(parent.Inner())] = s
	}
	return s
}

// enter begins another message of a stream, if it is another one. The API takes the results of a
// message's tools before it gives the next message: a call without one by now never gets one.
func (d *Dialect) enter(s *stream, id []byte, out *agent.Decoded) {
	if string(id) != s.id {
		d.calls.Lose(out, func(c agent.Call) bool { return c.Parent == s.parent })
		*s = stream{parent: s.parent, id: string(id), streamed: s.streamed}
		clear(s.streamed)
	}
}

// next names the next block of a message: <message>.<index>. A block that is being streamed has its
// index already: 2.1.329 prints it before its content_block_stop.
func (s *stream) next() string {
	index := s.blocks
	if s.writing != "" {
		index = s.index
	}
	s.blocks = max(s.blocks, index+1)
	return s.name(index)
}

func (s *stream) name(index int) string { return s.id + "." + strconv.Itoa(index) }

// take returns what was said of a block, and forgets it.
func (s *stream) take(name string) (text []byte, streamed bool) {
	text, streamed = s.streamed[name]
	delete(s.streamed, name)
	return text, streamed
}

// streamEvent reads an event of the API's own stream, which Claude passes on with
// --include-partial-messages.
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
		s.whole = true
		d.messageUsage(s, message.Get("model"), message.Get("usage"))
	case "message_delta":
		d.messageUsage(s, jsonscan.Value{}, about.Get("usage"))
		d.reportMessage(s, out)
		d.askUsage(out)
	case "content_block_start":
		n, _ := about.Get("index").Int()
		s.writing, s.index = s.name(int(n)), int(n)
		out.DropRaw = true
		return
	case "content_block_stop":
		s.writing, out.DropRaw = "", true
		return
	case "message_stop", "ping":
		out.DropRaw = true
		return
	}
	out.Add(event.AgentNoticed{What: out.Name("stream_event/", typ)})
}

// delta reports what is new of the block that is being written. The line is not kept: the block's
// own event repeats it, and a secret that is cut in two by two deltas could be masked in neither
// line.
func (d *Dialect) delta(s *stream, delta jsonscan.Value, out *agent.Decoded) {
	out.DropRaw = true
	typ := delta.Get("type")
	var words jsonscan.Value
	switch string(typ.Inner()) {
	case "text_delta":
		words = delta.Get("text")
	case "thinking_delta":
		words = delta.Get("thinking")
	case "input_json_delta", "signature_delta": // the call is reported when it is complete
		return
	}
	if !words.IsString() || s.writing == "" {
		out.Add(event.AgentNoticed{What: out.Name("stream_event/", typ)})
		return
	}
	s.streamed[s.writing] = jsonscan.AppendUnquoted(s.streamed[s.writing], words.Raw())
	out.Say(event.AgentSaid{Block: s.writing, Text: event.Quoted(words.Raw()), Parent: s.parent}, typ.Is("thinking_delta"))
}
