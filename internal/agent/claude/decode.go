package claude

import (
	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

const keptScratch = 1 << 20 // bytes

// Decode reads one line of Claude Code. What stands on stderr is meant for a person.
func (d *Dialect) Decode(line []byte, from agent.Stream, out *agent.Decoded) {
	if from == agent.Stderr {
		out.Add(event.AgentUnread{Line: plain(line), Stream: "stderr"})
		return
	}
	m, err := d.line.Read(line)
	if d.scratch = d.scratch[:0]; cap(d.scratch) > keptScratch {
		d.scratch = nil
	}
	if err != nil {
		if len(line) > 0 {
			out.Add(event.AgentUnread{Line: plain(line)})
		}
		return
	}
	out.JSON = true
	d.decode(m, out)
	d.turn.heard(out.Facts)
}

// decode knows Claude's types of lines. "type" need not be the first member: in a result it is one of the last.
func (d *Dialect) decode(m jsonscan.Value, out *agent.Decoded) {
	switch string(m.Get("type").Inner()) {
	case "assistant":
		d.assistant(m, out)
	case "user":
		d.user(m, out)
	case "stream_event":
		d.streamEvent(m, out)
	case "system":
		d.system(m, out)
	case "result":
		d.result(m, out)
	case "tool_progress":
		d.progress(m, out)
	case "command_lifecycle":
		d.lifecycle(m, out)
	case "rate_limit_event":
		d.rateLimit(m, out)
	case "control_request":
		d.controlRequest(m, out)
	case "control_response":
		out.Notice("control_response", m.Get("response", "error"))
	case "control_cancel_request", "keep_alive":
		out.Add(event.AgentNoticed{What: m.Get("type").Text()})
	default:
		out.Add(event.AgentUnread{})
	}
}

// progress is a sign of life, every 30 s, and says nothing of what the tool does. 2.1.329 gives a heartbeat an id of its own
// and names the tool as the parent; of a subagent's tool that is the subagent's call.
func (d *Dialect) progress(m jsonscan.Value, out *agent.Decoded) {
	id, parent := m.Get("tool_use_id").Text(), m.Get("parent_tool_use_id").Text()
	if parent != "" && !d.calls.Open(id) {
		id = parent
	}
	if id != "" {
		out.Add(event.ToolProgressed{ID: id})
		return
	}
	out.Notice("tool_progress", m.Get("tool_name"))
}

// lifecycle says what became of a message.
func (d *Dialect) lifecycle(m jsonscan.Value, out *agent.Decoded) {
	if sent := d.mine(m.Get("command_uuid")); sent != nil {
		d.echoes = true
		switch string(m.Get("state").Inner()) {
		case "started", "completed":
			d.taken(sent, out)
		case "cancelled":
			d.dropped(sent, out)
		}
	}
	if len(out.Facts) == 0 {
		out.Add(event.AgentNoticed{What: out.Name("command_lifecycle/", m.Get("state"))})
	}
}

// unescaped returns a text that is spelled with its escapes and without quotes, as names of members are.
func unescaped(inner []byte) string {
	quoted := append(append(make([]byte, 0, len(inner)+2), '"'), inner...)
	return jsonscan.Unquote(append(quoted, '"'))
}

// plain keeps a line that is no JSON as a text.
func plain(line []byte) event.Text { return jsonscan.AppendStringBytes(nil, line) }
