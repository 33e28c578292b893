package acp

import (
	"bytes"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// Bytes of scratch memory.
const (
	usualScratch = 1 << 10
	keptScratch  = 1 << 20
)

// Decode reads one frame. Lines that are none are kept as they are: launchers print some to stdout, and stderr is
// meant for a person.
func (d *Dialect) Decode(line []byte, from agent.Stream, out *agent.Decoded) {
	if from == agent.Stderr {
		if !d.logged(line, out) {
			out.Add(event.AgentUnread{Line: plain(line), Stream: "stderr"})
		}
		return
	}
	value, err := d.line.Read(line)
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
	var f frame
	f.read(value)
	d.told(&f, out)
}

// frame are the members of a line.
type frame struct{ method, id, params, result, failed jsonscan.Value }

// read takes over the members of a line.
func (f *frame) read(line jsonscan.Value) {
	for key, value := range line.Members() {
		switch string(key) {
		case "method":
			f.method = value
		case "id":
			f.id = value
		case "params":
			f.params = value
		case "result":
			f.result = value
		case "error":
			f.failed = value
		}
	}
}

// told tells the three kinds of JSON-RPC apart: a method with an id is a request, without one a notification, and an
// id without a method is an answer.
func (d *Dialect) told(f *frame, out *agent.Decoded) {
	switch {
	case f.method.IsString() && f.id.Exists() && !f.id.IsNull():
		d.requested(f.method, f.id, f.params, out)
	case f.method.Says("session/update"): // PHP and others escape the slash
		d.updated(f.params, out)
	case f.method.IsString():
		out.Add(event.AgentNoticed{What: out.Name("", f.method)})
	case f.id.Exists() && (f.result.Exists() || f.failed.Exists()):
		d.answered(f, out)
	default:
		out.Add(event.AgentUnread{})
	}
}

// plain keeps bytes as a text.
func plain(b []byte) event.Text { return jsonscan.AppendStringBytes(nil, b) }
