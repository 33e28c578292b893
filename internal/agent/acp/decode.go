package acp

import (
	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// Decode reads one message. Other lines are kept as they are: launchers print some to stdout, and
// stderr is for a person.
func (d *Dialect) Decode(line []byte, from agent.Stream, out *agent.Decoded) {
	if from == agent.Stderr && d.profile.log != nil && d.profile.log(d, line, out) {
		return
	}
	if m, ok := out.Read(d.line, line, from); ok {
		d.received(m, out)
	}
}

// received reads a JSON-RPC message: a method with an id is a request, a method without one is a
// notification, and an id without a method is an answer.
func (d *Dialect) received(m jsonscan.Value, out *agent.Decoded) {
	method, id := m.Get("method"), m.Get("id")
	result, failed := m.Get("result"), m.Get("error")
	switch {
	case method.IsString() && id.Exists() && !id.IsNull():
		d.requested(method, id, m.Get("params"), out)
	case method.Says("session/update"): // PHP and others escape the slash
		d.updated(m.Get("params"), out)
	case method.IsString():
		out.Add(event.AgentNoticed{What: out.Name("", method)})
	case id.Exists() && (result.Exists() || failed.Exists()):
		if failed.IsNull() {
			failed = jsonscan.Value{}
		}
		d.answered(id, result, failed, out)
	default:
		out.Add(event.AgentUnparsed{})
	}
}
