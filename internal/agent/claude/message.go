package claude

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// assistant reads one content block: Claude prints an event for each, and those of one message
// share its id.
func (d *Dialect) assistant(m jsonscan.Value, out *agent.Decoded) {
	parent := m.Get("parent_tool_use_id")
	if m.Get("error").IsString() {
		d.failed(m, parent.IsString(), out)
		return
	}
	if !parent.IsString() {
		d.turn.clearFault()
		d.turn.refusal = ""
		d.inferDelivery(false, out)
	}
	message := m.Get("message")
	id, content := message.Get("id").Inner(), message.Get("content")
	if d.variant != nil && d.variant.each {
		d.usedByMessage(message, out)
		id = d.nextMessage()
	}
	s := d.streams.of(parent)
	d.enter(s, id, out)
	d.messageUsage(s, message.Get("model"), message.Get("usage"))
	if !s.whole {
		d.reportMessage(s, out)
	}
	if content.IsString() {
		d.endBlock(s, s.next(), content, true, out)
		return
	}
	facts := len(out.Facts)
	for block := range content.Items() {
		d.block(s, s.next(), block, out)
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
		d.endBlock(s, name, block.Get("text"), true, out)
	case "thinking":
		d.endBlock(s, name, block.Get("thinking"), false, out)
	case "tool_use", "server_tool_use", "mcp_tool_use":
		id, tool, input := block.Get("id").Text(), block.Get("name"), block.Get("input")
		d.calls.Called(out, event.ToolCalled{ID: id, Name: out.Text(tool), Input: input.Raw(), Parent: s.parent})
		if s.parent == "" && tool.Is("TodoWrite") {
			// switched off under -p in 2.1.329, but older ones and settings may have it
			out.Plan(input.Get("todos"), "content")
		}
	case "refusal":
		if s.parent == "" {
			d.turn.refusal = agent.Refusal(block)
		}
		out.Notice("assistant/refusal", block.Get("refusal"))
	default:
		if bytes.HasSuffix(typ.Inner(), []byte("_tool_result")) {
			// A tool that ran at the API: its result is part of the assistant's message.
			d.returned(block, out)
			return
		}
		out.Add(event.AgentNoticed{What: out.Name("assistant/", typ)})
	}
}

// endBlock ends a block of text or thinking. Where it was streamed, only what the deltas left out
// is said.
func (d *Dialect) endBlock(s *stream, name string, body jsonscan.Value, aloud bool, out *agent.Decoded) {
	var words event.Text
	if body.IsString() {
		words = event.Quoted(body.Raw())
	}
	if before, streamed := s.take(name); streamed {
		rest, continues := bytes.CutPrefix(out.Unquote(body), before)
		words = nil
		if continues && len(rest) > 0 {
			words = out.Plain(rest)
		}
	}
	out.Say(event.AgentSaid{Block: name, Text: words, Final: true, Parent: s.parent}, !aloud)
}

// user reads tool results, replays of our own messages, and texts that Claude itself puts into the
// conversation.
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
		notice(what, content, out)
		return
	}
	facts := len(out.Facts)
	for part := range content.Items() {
		if part.Get("type").Is("tool_result") {
			d.returned(part, out)
			if !subagent {
				d.inferDelivery(true, out)
			}
			continue
		}
		notice(what, part.Get("text"), out)
	}
	if len(out.Facts) == facts {
		out.Add(event.AgentNoticed{What: what})
	}
}

// stopFeedback begins the text that Claude Code 2.1.329 puts into the conversation when a Stop hook
// keeps the model from ending its turn.
const stopFeedback = "Stop hook feedback:\n"

// notice adds a text that is in the conversation and not of the model.
func notice(what string, text jsonscan.Value, out *agent.Decoded) {
	if said, ok := strings.CutPrefix(text.Text(), stopFeedback); ok && what != "user" {
		out.Add(event.AgentNoticed{What: event.NoticeSentBack, Text: agent.Cut(strings.TrimSpace(said))})
		return
	}
	out.Notice(what, text)
}

// replayed notes that the model was given one of our messages. The prompt, which may be long, is in
// the journal already.
func (d *Dialect) replayed(m jsonscan.Value, out *agent.Decoded) bool {
	sent := d.sentMessage(m.Get("uuid"))
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
	if id != "" {
		delete(d.streams, id)
	}
	d.calls.Returned(out, event.ToolReturned{ID: id, OK: !result.Get("is_error").IsTrue(), Output: output(result.Get("content"), out)})
	d.askUsage(out)
	d.orphaned(out)
}

// orphaned ends the calls of subagents whose own call is over. One that runs in the
// background outlives it.
func (d *Dialect) orphaned(out *agent.Decoded) {
	if d.turn.tasks == 0 {
		d.calls.Lose(out, func(c agent.Call) bool { return c.Parent != "" && !d.calls.Open(c.Parent) })
	}
}

// output returns a tool's output, which is a string or a list of parts. Parts without text are
// named.
func output(content jsonscan.Value, out *agent.Decoded) event.Text {
	if content.IsString() {
		return event.Quoted(content.Raw())
	}
	if text := content.Item(0).Get("text"); text.IsString() && !content.Item(1).Exists() {
		return event.Quoted(text.Raw())
	}
	return out.Join(content, func(part jsonscan.Value) ([]byte, bool) {
		if text, ok := agent.TextPart(part); ok {
			return text, true
		}
		kind := cmp.Or(string(part.Get("type").Inner()), "?")
		return []byte("[" + kind + "]"), true
	})
}
