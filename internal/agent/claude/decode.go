package claude

import (
	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// Decode reads one line of Claude Code. What is on stderr is for a person.
func (d *Dialect) Decode(line []byte, from agent.Stream, out *agent.Decoded) {
	if m, ok := out.Read(d.line, line, from); ok {
		d.decode(m, out)
		d.turn.progressed(out.Facts)
	}
}

// decode reads a message by its type.
func (d *Dialect) decode(m jsonscan.Value, out *agent.Decoded) {
	if read := messages[string(m.Get("type").Inner())]; read != nil {
		read(d, m, out)
	} else {
		out.Add(event.AgentUnparsed{})
	}
}

// messages are the readers of messages by type.
var messages = map[string]func(*Dialect, jsonscan.Value, *agent.Decoded){
	"assistant":              (*Dialect).assistant,
	"user":                   (*Dialect).user,
	"stream_event":           (*Dialect).streamEvent,
	"system":                 (*Dialect).system,
	"result":                 (*Dialect).result,
	"tool_progress":          (*Dialect).progress,
	"command_lifecycle":      (*Dialect).lifecycle,
	"rate_limit_event":       (*Dialect).rateLimit,
	"control_request":        (*Dialect).controlRequest,
	"control_response":       (*Dialect).controlResponse,
	"control_cancel_request": named,
	"keep_alive":             named,
}

func named(_ *Dialect, m jsonscan.Value, out *agent.Decoded) {
	out.Add(event.AgentNoticed{What: m.Get("type").Text()})
}

// progress is a sign of life, every 30 s, without what the tool does. 2.1.329 gives it an id of its
// own and names the tool as the parent; for a tool of a subagent that is the subagent's call.
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

// lifecycle reads the state of a message.
func (d *Dialect) lifecycle(m jsonscan.Value, out *agent.Decoded) {
	if sent := d.sentMessage(m.Get("command_uuid")); sent != nil {
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
