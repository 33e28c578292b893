package claude

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// turn is what ralph calls one: from Open to AgentFinished.
type turn struct {
	open     bool
	ready    bool // an init came, after which the model is asked
	aborting bool

	// the last result, while messages wait that begin another turn of Claude's
	held *event.AgentFinished

	tasks    int  // running in the background, by the last background_tasks_changed
	deferred bool // there was one: a turn of Claude's own will report its end
	owed     int  // inits without their result, counted while deferred

	fault   event.FaultKind // the kind of the API error that the assistant met last and has not got over
	refusal string          // what the assistant said last, if that was a part that refuses
	cut     bool            // that was an answer that ran into the model's limit of output, again and again
	until   string          // when the limit ends, where it said so
	limited bool            // AgentLimited was reported, and the agent has done nothing since
}

// clearFault: the assistant itself has got over the fault.
func (t *turn) clearFault() { t.fault, t.cut, t.until = "", false, "" }

// progressed notes what a line came to. The wait for a limit ends when the agent continues, so that
// the next limit has to be reported.
func (t *turn) progressed(facts []event.Payload) {
	for _, fact := range facts {
		switch fact.(type) {
		case event.AgentSaid, event.ToolCalled:
			t.limited = false
		}
	}
}

// message is one user message that was written.
type message struct {
	uuid    string
	command string // the id of a steer
	steer   bool
	waits   bool // the model has not been given it, and may yet be
	passed  bool // a tool returned since: see inferDelivery
}

// sentMessage returns the message with a uuid, nil if it is none of ours.
func (d *Dialect) sentMessage(uuid jsonscan.Value) *message {
	for i := range d.sent {
		if uuid.Says(d.sent[i].uuid) {
			return &d.sent[i]
		}
	}
	return nil
}

// taken: the model has been given the message.
func (d *Dialect) taken(m *message, out *agent.Decoded) {
	if !m.waits {
		return
	}
	m.waits = false
	if m.steer {
		out.Add(event.CommandDelivered{ID: m.command, How: "live", Iteration: d.iteration})
	}
}

// dropped: the model will never be given the message. If nothing else was waited for, the turn is
// over.
func (d *Dialect) dropped(m *message, out *agent.Decoded) {
	m.waits = false
	if d.turn.held != nil && !d.more() {
		d.finish(*d.turn.held, out)
	}
}

// more reports whether another result will come.
func (d *Dialect) more() bool {
	return slices.ContainsFunc(d.sent, func(m message) bool { return m.steer && m.waits }) ||
		d.turn.deferred && (d.turn.tasks > 0 || d.turn.owed > 0)
}

// ended: Claude ended a turn of its own with this result.
func (d *Dialect) ended(verdict event.AgentFinished, out *agent.Decoded) {
	d.turn.owed = max(0, d.turn.owed-1)
	// Where nothing is echoed, a result is the only sign that the prompt was taken.
	for i := range d.sent {
		d.sent[i].waits = d.sent[i].waits && d.sent[i].steer
	}
	if d.turn.open && (d.turn.aborting || !d.more()) {
		d.finish(verdict, out)
		return
	}
	if d.turn.open {
		d.turn.held = &verdict
	}
	out.Add(event.AgentNoticed{What: "result/" + string(verdict.Outcome), Text: verdict.Error})
}

// finish ends the turn. What still waits was not delivered, and is not even if Claude should take
// it now.
func (d *Dialect) finish(verdict event.AgentFinished, out *agent.Decoded) {
	d.calls.Lose(out, func(agent.Call) bool { return true })
	d.turn = turn{}
	for i := range d.sent {
		d.sent[i].waits = false
	}
	out.Add(verdict)
}

// begun: Claude begins a turn of its own.
func (d *Dialect) begun(out *agent.Decoded) {
	// A launcher has Claude as a child, and MCP servers are started before the first init. At a
	// later one of the same turn its tools may be at work.
	out.Own = d.turn.open && !d.turn.ready
	d.turn.ready = true
	if d.turn.deferred {
		d.turn.owed++
	}
	if d.turn.held != nil && !d.echoes {
		for i := range d.sent {
			d.taken(&d.sent[i], out)
		}
	}
}

// inferDelivery replaces missing echoes: Claude gives a message to the model with the next tool
// result, so the answer to that result shows it. A message written after the result was sent would
// count too early; that is why echoes are asked for.
func (d *Dialect) inferDelivery(returned bool, out *agent.Decoded) {
	if d.echoes {
		return
	}
	for i := range d.sent {
		switch m := &d.sent[i]; {
		case returned:
			m.passed = true
		case m.steer && m.passed:
			d.taken(m, out)
		}
	}
}

// background notes how many tasks run that the result does not wait for: subagents and commands.
// They are switched off; this is for a Claude with other settings. The end of each makes a
// turn of Claude's own, which 2.1.329 may begin before the result of the turn that it interrupts.
func (d *Dialect) background(m jsonscan.Value, out *agent.Decoded) {
	d.turn.tasks = 0
	var names []string
	for task := range m.Get("tasks").Items() {
		if d.turn.tasks++; d.turn.tasks <= namedTasks {
			names = append(names, cmp.Or(agent.Brief(task.Get("description")), agent.Brief(task.Get("task_type"))))
		}
	}
	if more := d.turn.tasks - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	if d.turn.tasks > 0 && !d.turn.deferred && d.turn.open {
		d.turn.deferred, d.turn.owed = true, 1
	}
	out.Add(event.AgentNoticed{What: event.NoticeBackground, Text: agent.Cut(strings.Join(names, ", "))})
	d.orphaned(out)
}

// namedTasks is how many tasks in the background a notice names.
const namedTasks = 8
