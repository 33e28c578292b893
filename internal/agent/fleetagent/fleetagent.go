// Package fleetagent is the dialect of the agent of a fleet, which is ralph itself. It prints what
// a person reads, as any command of protocol text does, and between that one line of JSON for each
// event of the fleet:
//
//	{"type":"fleet.decided","data":{"do":"begin","task":"parser"}}
//
// So the journal of the fleet's loop has what its agent observes, and each step before the agent
// takes it: the agent reads its own journal, and goes on once it finds the line there.
//
// No other program has this dialect. A line of a task's agent is in the journal of its own loop,
// where it is text.
package fleetagent

import (
	"bytes"
	"encoding/json"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/text"
	"github.com/ralph-loop/ralph/journal/event"
)

// Verb is the verb of ralph that is the agent of a fleet.
const Verb = "fleet-agent"

// Dialect is the conversation with one process.
type Dialect struct {
	*text.Dialect
	held   []byte // the beginning of a line that may be an event
	inLine bool   // the next piece continues a line of text
}

// New returns a dialect for one process.
func New() *Dialect { return &Dialect{Dialect: text.New()} }

// prefix begins the line of an event.
var prefix = []byte(`{"type":"fleet.`)

// Decode takes a piece of output: an event of the fleet, or text. The beginning of a line that may
// be an event waits for the rest.
func (d *Dialect) Decode(piece []byte, from agent.Stream, out *agent.Decoded) {
	ended := len(piece) == 0 || piece[len(piece)-1] == '\n'
	if from == agent.Stdout && !d.inLine && len(piece) > 0 {
		d.held = append(d.held, piece...)
		if begun := d.held[:min(len(d.held), len(prefix))]; !ended && bytes.HasPrefix(prefix, begun) {
			out.DropRaw = true
			return
		}
		if p, ok := parse(d.held); ok {
			d.held, out.DropRaw = nil, true // the event has all of it
			out.Add(p)
			return
		}
	}
	if from == agent.Stdout {
		if len(piece) == 0 && len(d.held) > 0 { // the output ends in the middle of a line
			d.Dialect.Decode(d.held, from, out)
		} else if len(d.held) > 0 {
			piece = d.held
		}
		d.held, d.inLine = nil, !ended
	}
	d.Dialect.Decode(piece, from, out)
}

// record is the line of an event.
type record struct {
	Type event.Type      `json:"type"`
	Data json.RawMessage `json:"data"`
}

// Line returns an event of a fleet as its agent prints it, without a newline.
func Line(p event.Payload) []byte {
	return agent.Line(record{Type: p.EventType(), Data: event.AppendData(nil, p)})
}

// parse returns the event in a line; false if it holds none of a fleet.
func parse(line []byte) (event.Payload, bool) {
	var r record
	if !bytes.HasPrefix(line, prefix) || json.Unmarshal(line, &r) != nil {
		return nil, false
	}
	switch r.Type {
	case event.TypeFleetOpened:
		return payload[event.FleetOpened](r.Data)
	case event.TypeFleetObserved:
		return payload[event.FleetObserved](r.Data)
	case event.TypeFleetDecided:
		return payload[event.FleetDecided](r.Data)
	}
	return nil, false
}

func payload[T event.Payload](data []byte) (event.Payload, bool) {
	var p T
	err := json.Unmarshal(data, &p)
	return p, err == nil
}
