package claude

import (
	"bytes"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// assistant reads one content block: Claude prints an event for each, and those of one message share its id.
func (d *Dialect) assistant(m jsonscan.Value, out *agent.Decoded) {
	parent := m.Get("parent_tool_use_id")
	if m.Get("error").IsString() {
		d.failed(m, parent.IsString(), out)
		return
	}
	if !parent.IsString() {
		d.turn.wentOn()
		d.witness(false, out)
	}
	message := m.Get("message")
	id, content := message.Get("id").Inner(), message.Get("content")
	if d.variant != nil && d.variant.each {
		d.usedByMessage(message, out)
		id = d.nextMessage()
	}
	s := d.streams.of(parent)
	d.enter(s, id, out)
	d.toldUse(s, message.Get("model"), message.Get("usage"))
	if content.IsString() {
		d.said(s, s.next(id), content, true, out)
		return
	}
	facts := len(out.Facts)
	for block := range content.Items() {
		d.block(s, s.next(id), block, out)
	}
	if len(out.Facts) == facts {
		out.Add(event.AgentNoticed{What: "assistant"})
	}
}

// failed is an API error in the shape of an assistant's message. They are not the
// model's words, and its result says how the turn ended.
func (d *Dialect) failed(m jsonscan.Value, subagent bool, out *agent.Decoded) {
	if !subagent {
		d.turn.fault, d.turn.cut = kindOf(m), m.Get("error").Is("max_output_tokens")
		if m.Get("api_error_params", "cut").Is("context_window") {
			d.turn.fault = event.KindContext
		}
		if until := resetTime(m.Get("api_error_params", "rate_limit_info", "resetsAt")); until != "" {
			d.turn.until = until
		}
	}
	said := m.Get("message", "content").Item(0).Get("text")
	out.Notice(out.Name("assistant/", m.Get("error")), said)
}

// block reads one block of an assistant's message.
func (d *Dialect) block(s *stream, name string, block jsonscan.Value, out *agent.Decoded) {
	switch typ := block.Get("type"); string(typ.Inner()) {
	case "text":
		d.said(s, name, block.Get("text"), true, out)
	case "thinking":
		d.said(s, name, block.Get("thinking"), false, out)
	case "tool_use", "server_tool_use", "mcp_tool_use":
		id, tool, input := block.Get("id").Text(), block.Get("name"), block.Get("input")
		out.Add(event.ToolCalled{ID: id, Name: out.Text(tool), Input: input.Raw(), Parent: s.parent})
		d.calls.Called(agent.Call{ID: id, Parent: s.parent})
		if s.parent == "" && tool.Is("TodoWrite") {
			plan(input, out)
		}
	default:
		if bytes.HasSuffix(typ.Inner(), []byte("_tool_result")) {
			// A tool that ran at the API: its result is part of the assistant's message.
			d.returned(block, out)
			return
		}
		out.Add(event.AgentNoticed{What: out.Name("assistant/", typ)})
	}
}

// said ends a block of text or thinking. Where it was streamed, only what the deltas left out is said.
func (d *Dialect) said(s *stream, name string, body jsonscan.Value, aloud bool, out *agent.Decoded) {
	var words event.Text
	if body.IsString() {
		words = event.Quoted(body.Raw())
	}
	if before, streamed := s.take(name); streamed {
		from := len(d.scratch)
		d.scratch = words.AppendTo(d.scratch)
		rest, continues := bytes.CutPrefix(d.scratch[from:], before)
		words = nil
		if continues && len(rest) > 0 {
			words = plain(rest)
		}
	}
	if aloud {
		out.Add(event.AgentSaid{Block: name, Text: words, Final: true, Parent: s.parent})
	} else {
		out.Add(event.AgentThought{Block: name, Text: words, Final: true, Parent: s.parent})
	}
}

// plan reads TodoWrite's input. 2.1.329 has the tool switched off under -p; older ones and
// settings may have it.
func plan(input jsonscan.Value, out *agent.Decoded) {
	var todos []event.Todo
	for item := range input.Get("todos").Items() {
		status := "pending"
		switch string(item.Get("status").Inner()) {
		case "in_progress":
			status = "active"
		case "completed":
			status = "done"
		}
		todos = append(todos, event.Todo{Text: item.Get("content").Text(), Status: status})
	}
	out.Add(event.AgentPlanned{Todos: todos})
}

// user reads tool results, replays of our own messages, and texts that Claude itself puts into the conversation.
func (d *Dialect) user(m jsonscan.Value, out *agent.Decoded) {
	if m.Get("isReplay").IsTrue() && d.replayed(m, out) {
		return
	}
	subagent := m.Get("parent_tool_use_id").IsString()
	content := m.Get("message", "content")
	what := "user"
	if m.Get("isSynthetic").IsTrue() {
		what = "user/synthetic"
	}
	if content.IsString() {
		out.Notice(what, content)
		return
	}
	facts := len(out.Facts)
	for part := range content.Items() {
		if part.Get("type").Is("tool_result") {
			d.returned(part, out)
			if !subagent {
				d.witness(true, out)
			}
			continue
		}
		out.Notice(what, part.Get("text"))
	}
	if len(out.Facts) == facts {
		out.Add(event.AgentNoticed{What: what})
	}
}

// replayed notes that the model was given one of our messages. The prompt, which may be long, stands in the journal already.
func (d *Dialect) replayed(m jsonscan.Value, out *agent.Decoded) bool {
	sent := d.mine(m.Get("uuid"))
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

// returned reads a tool's result.
func (d *Dialect) returned(result jsonscan.Value, out *agent.Decoded) {
	id := result.Get("tool_use_id").Text()
	d.streams.drop(id)
	out.Add(event.ToolReturned{ID: id, OK: !result.Get("is_error").IsTrue(), Output: d.output(result.Get("content"))})
	d.calls.Returned(id)
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
func (d *Dialect) output(content jsonscan.Value) event.Text {
	if content.IsString() {
		return event.Quoted(content.Raw())
	}
	first, second := content.Item(0), content.Item(1)
	if !first.Exists() {
		return nil
	}
	if words := first.Get("text"); !second.Exists() && words.IsString() {
		return event.Quoted(words.Raw())
	}
	from, between := len(d.scratch), ""
	d.scratch = append(d.scratch, '"')
	for part := range content.Items() {
		d.scratch = appendPart(append(d.scratch, between...), part)
		between = `\n`
	}
	d.scratch = append(d.scratch, '"')
	return event.Quoted(d.scratch[from:len(d.scratch):len(d.scratch)])
}

func appendPart(dst []byte, part jsonscan.Value) []byte {
	if words := part.Get("text"); words.IsString() {
		return append(dst, words.Inner()...)
	}
	if kind := part.Get("type"); kind.IsString() {
		return append(append(append(dst, '['), kind.Inner()...), ']')
	}
	return append(dst, "[?]"...)
}
