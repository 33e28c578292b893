package pi

import (
	"bytes"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// keepScratch is how much memory for joined texts is kept from one line to the next, in bytes.
const keepScratch = 1 << 20

// Decode reads one line of pi. What stands on stderr are warnings for a person.
func (d *Dialect) Decode(line []byte, from agent.Stream, out *agent.Decoded) {
	if from == agent.Stderr {
		out.Add(event.AgentUnread{Line: event.Plain(string(line)), Stream: "stderr"})
		return
	}
	doc := bytes.TrimSpace(line)
	if len(doc) == 0 {
		out.DropRaw = true
		return
	}
	m, err := d.line.Read(doc)
	if err != nil {
		unread(line, out)
		return
	}
	if !m.IsObject() {
		out.Add(event.AgentUnread{})
		return
	}
	out.JSON = len(doc) == len(line) // what Go calls space may be none to JSON
	if d.scratch = d.scratch[:0]; cap(d.scratch) > keepScratch {
		d.scratch = nil
	}
	d.decode(m, out)
}

func unread(line []byte, out *agent.Decoded) {
	out.Add(event.AgentUnread{Line: event.Plain(string(line))})
}

// decode knows pi's words. Those that begin or end something which other lines
// tell come to no fact.
func (d *Dialect) decode(m jsonscan.Value, out *agent.Decoded) {
	typ := m.Get("type")
	switch string(typ.Inner()) {
	case "message_update":
		d.messageUpdate(m, out)
	case "tool_execution_update":
		d.toolUpdate(m, out)
	case "tool_execution_start":
		d.turn.stirred()
		d.toolStart(m, out)
	case "tool_execution_end":
		d.toolEnd(m, out)
	case "message_start":
		d.messageStart(m, out)
	case "message_end":
		d.messageEnd(m, out)
	case "turn_start":
		d.turn.stirred()
	case "turn_end":
		out.DropRaw = true
	case "agent_start":
		d.agentStart(out)
	case "agent_end":
		d.agentEnd(m, out)
	case "agent_settled":
		d.settled(m, out)
	case "response":
		d.response(m, out)
	case "queue_update":
		d.queueUpdate(m.Get("steering"))
	case "auto_retry_start":
		d.retryStart(m, out)
	case "auto_retry_end":
		d.retryEnd(m, out)
	case "compaction_start":
		d.compactionStart(m, out)
	case "compaction_end":
		d.compactionEnd(m, out)
	case "extension_ui_request":
		d.extensionUI(m, out)
	case "extension_error":
		out.Add(event.AgentNoticed{What: "extension_error", Text: m.Get("error").Text()})
	default:
		if !typ.IsString() {
			out.Add(event.AgentUnread{})
			return
		}
		out.Add(event.AgentNoticed{What: typ.Text()})
	}
}
