package pi

import (
	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// Decode reads one line of pi. On stderr are warnings for a person.
func (d *Dialect) Decode(line []byte, from agent.Stream, out *agent.Decoded) {
	m, ok := out.Read(d.line, line, from)
	switch {
	case !ok:
	case !m.IsObject():
		out.Add(event.AgentUnparsed{})
	default:
		d.decode(m, out)
	}
}

// decode reads a message by its type.
func (d *Dialect) decode(m jsonscan.Value, out *agent.Decoded) {
	typ := m.Get("type")
	switch read := messages[string(typ.Inner())]; {
	case read != nil:
		read(d, m, out)
	case typ.IsString():
		out.Add(event.AgentNoticed{What: typ.Text()})
	default:
		out.Add(event.AgentUnparsed{})
	}
}

// messages are the readers of messages by type. Messages that begin or end what other lines report
// come to no fact.
var messages = map[string]func(*Dialect, jsonscan.Value, *agent.Decoded){
	"message_update":        (*Dialect).messageUpdate,
	"message_start":         (*Dialect).messageStart,
	"message_end":           (*Dialect).messageEnd,
	"tool_execution_start":  (*Dialect).toolStart,
	"tool_execution_update": (*Dialect).toolUpdate,
	"tool_execution_end":    (*Dialect).toolEnd,
	"turn_start":            func(d *Dialect, _ jsonscan.Value, _ *agent.Decoded) { d.turn.worked() },
	"turn_end":              func(_ *Dialect, _ jsonscan.Value, out *agent.Decoded) { out.DropRaw = true },
	"agent_start":           (*Dialect).agentStart,
	"agent_end":             (*Dialect).agentEnd,
	"agent_settled":         (*Dialect).settled,
	"response":              (*Dialect).response,
	"queue_update":          (*Dialect).queueUpdate,
	"auto_retry_start":      (*Dialect).retryStart,
	"auto_retry_end":        (*Dialect).retryEnd,
	"compaction_start":      (*Dialect).compactionStart,
	"compaction_end":        (*Dialect).compactionEnd,
	"extension_ui_request":  (*Dialect).extensionUI,
	"extension_error": func(_ *Dialect, m jsonscan.Value, out *agent.Decoded) {
		out.Add(event.AgentNoticed{What: "extension_error", Text: m.Get("error").Text()})
	},
}
