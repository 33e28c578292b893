package acp

import (
	"bytes"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

const keptScratch = 1 << 20 // bytes

// Decode reads one frame. Lines that are none are kept as they are: launchers print some to stdout, and stderr is
// meant for a person.
func (d *Dialect) Decode(line []byte, from agent.Stream, out *agent.Decoded) {
	if from == agent.Stderr {
		if !d.logged(line, out) {
			out.Add(event.AgentUnread{Line: plain(line), Stream: "stderr"})
		}
		return
	}
	frame, err := d.line.Read(line)
	if d.scratch = d.scratch[:0]; cap(d.scratch) > keptScratch {
		d.scratch = nil
	}
	switch {
	case err != nil && len(bytes.TrimSpace(line)) == 0:
		out.DropRaw = true
		return
	case err != nil:
		out.Add(event.AgentUnread{Line: plain(line)})
		return
	}
	out.JSON = true
	d.frame(frame, out)
}

// frame tells the three kinds of JSON-RPC apart: a method with an id is a request, without one a notification, and an
// id without a method is an answer.
func (d *Dialect) frame(m jsonscan.Value, out *agent.Decoded) {
	method, id := m.Get("method"), m.Get("id")
	switch {
	case method.IsString() && id.Exists() && !id.IsNull():
		d.requested(method, id, m.Get("params"), out)
	case method.Is("session/update"):
		d.updated(m.Get("params"), out)
	case method.IsString():
		out.Add(event.AgentNoticed{What: out.Name("", method)})
	case id.Exists() && (m.Get("result").Exists() || m.Get("error").Exists()):
		d.answered(id, m, out)
	default:
		out.Add(event.AgentUnread{})
	}
}

// plain keeps bytes as a text.
func plain(b []byte) event.Text { return jsonscan.AppendStringBytes(nil, b) }

// count returns a number of tokens.
func count(value jsonscan.Value, name string) int64 {
	n, _ := value.Get(name).Int()
	return max(n, 0)
}
