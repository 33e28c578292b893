package claude

import (
	"bytes"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// assistant reads one content block: Claude prints an event for each, and those of one message share its id.
func (d *Dialect) assistant(m members, out *agent.Decoded) {
	parent := m.get("parent_tool_use_id")
	if jsonscan.IsString(m.get("error")) {
		d.failed(m, jsonscan.IsString(parent), out)
		return
	}
	if !jsonscan.IsString(parent) {
		d.turn.wentOn()
		d.witness(false, out)
	}
	id, content := idAndContent(m.get("message"))
	if d.variant != nil && d.variant.each {
		d.usedByMessage(m.get("message"), out)
		id = d.nextMessage()
	}
	s := d.streams.of(parent)
	d.enter(s, id, out)
	if jsonscan.IsString(content) {
		d.said(s, s.next(id), content[:jsonscan.Len(content)], true, out)
		return
	}
	facts := len(out.Facts)
	blocks := jsonscan.Array(content)
	for block, ok := blocks.Open(); ok; block, ok = blocks.Open() {
		fields := jsonscan.Object(block)
		d.block(s, s.next(id), block, &fields, out)
		blocks.Past(&fields)
	}
	if len(out.Facts) == facts {
		out.Add(event.AgentNoticed{What: "assistant"})
	}
}

// failed is an API error in the shape of an assistant's message. They are not the
// model's words, and its result says how the turn ended.
func (d *Dialect) failed(m members, subagent bool, out *agent.Decoded) {
	if !subagent {
		d.turn.fault = fault(m)
		if until := resetTime(jsonscan.Get(m.get("api_error_params"), "rate_limit_info", "resetsAt")); until != "" {
			d.turn.until = until
		}
	}
	_, content := idAndContent(m.get("message"))
	blocks := jsonscan.Array(content)
	block, _ := blocks.Next()
	out.Add(event.AgentNoticed{What: d.words.of("assistant/", m.get("error")), Text: short(jsonscan.Get(block, "text"))})
}

// idAndContent returns two members of a message. More of the line may follow the content: finding its end
// would read all of it once more.
func idAndContent(message []byte) (id, content []byte) {
	fields := jsonscan.Object(message)
	for id == nil || content == nil {
		key, value, ok := fields.Open()
		if !ok {
			break
		}
		switch string(key) {
		case "id":
			id = value[:jsonscan.Len(value)]
		case "content":
			content = value
		}
	}
	return id, content
}

// block reads one block of an assistant's message, of which fields are the members.
func (d *Dialect) block(s *stream, name string, block []byte, fields *jsonscan.ObjectCursor, out *agent.Decoded) {
	var typ, body, id, tool, input, result []byte
	for key, value, ok := fields.Next(); ok; key, value, ok = fields.Next() {
		switch string(key) {
		case "type":
			typ = value
		case "text", "thinking":
			body = value
		case "id":
			id = value
		case "name":
			tool = value
		case "input":
			input = value
		case "tool_use_id", "content":
			result = value
		}
	}
	switch string(typ) {
	case `"text"`:
		d.said(s, name, body, true, out)
	case `"thinking"`:
		d.said(s, name, body, false, out)
	case `"tool_use"`, `"server_tool_use"`, `"mcp_tool_use"`:
		name := text(id)
		out.Add(event.ToolCalled{ID: name, Name: d.words.of("", tool), Input: input, Parent: s.parent})
		d.calls.Called(agent.Call{ID: name, Parent: s.parent})
		if s.parent == "" && string(tool) == `"TodoWrite"` {
			plan(input, out)
		}
	default:
		if result != nil && bytes.HasSuffix(typ, []byte(`_tool_result"`)) {
			// A tool that ran at the API: its result is part of the assistant's message.
			again := jsonscan.Object(block)
			d.returned(&again, out)
			return
		}
		out.Add(event.AgentNoticed{What: d.words.of("assistant/", typ)})
	}
}

// said ends a block of text or thinking. Where it was streamed, only what the deltas left out is said.
func (d *Dialect) said(s *stream, name string, body []byte, aloud bool, out *agent.Decoded) {
	if !jsonscan.IsString(body) {
		body = nil
	}
	words := event.Quoted(body)
	if s.streamed == name {
		from := len(d.scratch)
		d.scratch = jsonscan.AppendUnquoted(d.scratch, body)
		rest, continues := bytes.CutPrefix(d.scratch[from:], s.text)
		words = nil
		if continues && len(rest) > 0 {
			words = plain(rest)
		}
		s.forget()
	}
	if aloud {
		out.Add(event.AgentSaid{Block: name, Text: words, Final: true, Parent: s.parent})
	} else {
		out.Add(event.AgentThought{Block: name, Text: words, Final: true, Parent: s.parent})
	}
}

// plan reads TodoWrite's input. 2.1.329 has the tool switched off under -p; older ones and
// settings may have it.
func plan(input []byte, out *agent.Decoded) {
	var todos []event.Todo
	list := jsonscan.Array(jsonscan.Get(input, "todos"))
	for item, ok := list.Next(); ok; item, ok = list.Next() {
		status := "pending"
		switch string(jsonscan.Get(item, "status")) {
		case `"in_progress"`:
			status = "active"
		case `"completed"`:
			status = "done"
		}
		todos = append(todos, event.Todo{Text: text(jsonscan.Get(item, "content")), Status: status})
	}
	out.Add(event.AgentPlanned{Todos: todos})
}

// user reads tool results, replays of our own messages, and texts that Claude itself puts into the conversation.
func (d *Dialect) user(m members, out *agent.Decoded) {
	if flag(m.get("isReplay")) && d.replayed(m, out) {
		return
	}
	subagent := jsonscan.IsString(m.get("parent_tool_use_id"))
	_, content := idAndContent(m.get("message"))
	what := "user"
	if flag(m.get("isSynthetic")) {
		what = "user/synthetic"
	}
	if jsonscan.IsString(content) {
		out.Add(event.AgentNoticed{What: what, Text: short(content[:jsonscan.Len(content)])})
		return
	}
	facts := len(out.Facts)
	parts := jsonscan.Array(content)
	for part, ok := parts.Open(); ok; part, ok = parts.Open() {
		if string(jsonscan.Get(part, "type")) == `"tool_result"` {
			fields := jsonscan.Object(part)
			d.returned(&fields, out)
			parts.Past(&fields)
			if !subagent {
				d.witness(true, out)
			}
			continue
		}
		out.Add(event.AgentNoticed{What: what, Text: short(jsonscan.Get(part, "text"))})
	}
	if len(out.Facts) == facts {
		out.Add(event.AgentNoticed{What: what})
	}
}

// replayed notes that the model was given one of our messages. The prompt, which may be long, stands in the journal already.
func (d *Dialect) replayed(m members, out *agent.Decoded) bool {
	sent := d.mine(m.get("uuid"))
	if sent == nil {
		return false
	}
	d.echoes, out.DropRaw = true, !sent.steer
	d.taken(sent, out)
	if len(out.Facts) == 0 {
		out.Add(event.AgentNoticed{What: "user/replay"})
	}
	return true
}

// returned reads a tool's result, of which fields are the members.
func (d *Dialect) returned(fields *jsonscan.ObjectCursor, out *agent.Decoded) {
	var id, content []byte
	failed := false
	for key, value, ok := fields.Next(); ok; key, value, ok = fields.Next() {
		switch string(key) {
		case "tool_use_id":
			id = value
		case "content":
			content = value
		case "is_error":
			failed = flag(value)
		}
	}
	name := text(id)
	d.streams.drop(name)
	out.Add(event.ToolReturned{ID: name, OK: !failed, Output: d.output(content)})
	d.calls.Returned(name)
	d.orphaned(out)
}

// orphaned tells that the calls of subagents are over whose own call is. One that runs in the background outlives it.
func (d *Dialect) orphaned(out *agent.Decoded) {
	if d.turn.tasks == 0 {
		d.calls.Lose(out, func(c agent.Call) bool { return c.Parent != "" && !d.calls.Open(c.Parent) })
	}
}

// output returns a tool's output, which is a string or a list of parts. What is not text is named. Texts are joined as they are
// spelled, without being unescaped.
func (d *Dialect) output(content []byte) event.Text {
	if jsonscan.IsString(content) {
		return event.Quoted(content)
	}
	parts := jsonscan.Array(content)
	first, ok := parts.Next()
	if !ok {
		return nil
	}
	second, more := parts.Next()
	if words := jsonscan.Get(first, "text"); !more && jsonscan.IsString(words) {
		return event.Quoted(words)
	}
	from := len(d.scratch)
	d.scratch = appendPart(append(d.scratch, '"'), first)
	for part := second; more; part, more = parts.Next() {
		d.scratch = appendPart(append(d.scratch, `\n`...), part)
	}
	d.scratch = append(d.scratch, '"')
	return event.Quoted(d.scratch[from:len(d.scratch):len(d.scratch)])
}

func appendPart(dst, part []byte) []byte {
	words := jsonscan.Get(part, "text")
	if !jsonscan.IsString(words) {
		if words = jsonscan.Get(part, "type"); !jsonscan.IsString(words) {
			return append(dst, "[?]"...)
		}
		return append(append(append(dst, '['), words[1:len(words)-1]...), ']')
	}
	return append(dst, words[1:len(words)-1]...)
}
