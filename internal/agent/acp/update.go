package acp

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// updated reads a session/update. What comes outside of a turn, or of another session, changes nothing.
func (d *Dialect) updated(params jsonscan.Value, out *agent.Decoded) {
	session := params.Get("sessionId")
	var u update
	u.read(params.Get("update"))
	if !u.what.IsString() {
		out.Add(event.AgentUnread{})
		return
	}
	mine := d.session == "" || session.Says(d.session)
	if mine && d.turn.open && d.phase == running {
		d.inTurn(&u, out)
	}
	if len(out.Facts) == 0 && !out.DropRaw {
		out.Add(event.AgentNoticed{What: out.Name("", u.what)})
	}
}

// update are the members of what a session/update tells, of which each kind of update has some, and of what permission is asked for.
type update struct {
	what, content, meta   jsonscan.Value
	messageID             jsonscan.Value
	callID, title, status jsonscan.Value // of a tool
	kind, name            jsonscan.Value
	severity, description jsonscan.Value // of a notice
	input, output         jsonscan.Value
	locations             jsonscan.Value
	entries               jsonscan.Value // of a plan
	cost                  jsonscan.Value
}

// read takes over the members of an update.
func (u *update) read(value jsonscan.Value) {
	for key, value := range value.Members() {
		switch string(key) {
		case "sessionUpdate":
			u.what = value
		case "content":
			u.content = value
		case "_meta":
			u.meta = value
		case "messageId":
			u.messageID = value
		case "toolCallId":
			u.callID = value
		case "title":
			u.title = value
		case "status":
			u.status = value
		case "kind":
			u.kind = value
		case "severity":
			u.severity = value
		case "description":
			u.description = value
		case "name":
			u.name = value
		case "rawInput":
			u.input = value
		case "rawOutput":
			u.output = value
		case "locations":
			u.locations = value
		case "entries":
			u.entries = value
		case "cost":
			u.cost = value
		}
	}
}

func (d *Dialect) inTurn(u *update, out *agent.Decoded) {
	switch out.Text(u.what) {
	case "agent_message_chunk":
		d.chunk(u, false, out)
	case "agent_thought_chunk":
		d.chunk(u, true, out)
	case "tool_call", "tool_call_update":
		d.toolUpdated(u, out)
	case "plan":
		planned(u.entries, out)
	case "session_info_update":
		d.codexTold(u.meta.Get("codex"), out)
	case "notice":
		d.noticed(u, out)
	case "usage_update":
		d.cost.read(u.cost)
		if d.profile.asks {
			d.modelAsked(out)
		}
	}
}

// noticed reads what an agent says for itself, which is none of the model's words.
func (d *Dialect) noticed(u *update, out *agent.Decoded) {
	words := agent.Brief(u.title)
	if more := agent.Brief(u.description); more != "" {
		words = strings.TrimPrefix(words+": "+more, ": ")
	}
	out.Add(event.AgentNoticed{What: out.Name("notice/", u.severity), Text: agent.Cut(words)})
}

// planned reads the agent's list of things to do, which is told whole each time.
func planned(entries jsonscan.Value, out *agent.Decoded) {
	var todos []event.Todo
	for entry := range entries.Items() {
		status := "pending"
		switch string(entry.Get("status").Inner()) {
		case "in_progress":
			status = "active"
		case "completed":
			status = "done"
		}
		todos = append(todos, event.Todo{Text: entry.Get("content").Text(), Status: status})
	}
	out.Add(event.AgentPlanned{Todos: todos})
}

// alive delivers what the model was given with the request that it now answers: all that was steered before a tool returned.
// One that was steered after the request was made and before its first word came counts too early; an agent that takes steers at all asks
// the model once more for it.
func (d *Dialect) alive(out *agent.Decoded) {
	d.ownWords(out)
	d.turn.retries, d.turn.asked, d.turn.stuck = 0, false, ""
	if len(d.turn.steers) == 0 {
		return
	}
	d.turn.steers = slices.DeleteFunc(d.turn.steers, func(s steer) bool {
		if s.passed {
			out.Add(event.CommandDelivered{ID: s.command, How: "live"})
		}
		return s.passed
	})
}

// ownWords tells what was held back: the model was not asked again, so that the words were its own.
func (d *Dialect) ownWords(out *agent.Decoded) {
	if d.turn.repeat == "" {
		return
	}
	d.say(jsonscan.Value{}, event.Plain(d.turn.repeat), false, out)
	d.turn.repeat = ""
}

// returned notes that a tool's result goes to the model, and what was steered with it.
func (d *Dialect) returned() {
	for i := range d.turn.steers {
		d.turn.steers[i].passed = true
	}
}

// reached notes what became of a steer that has its answer.
func (d *Dialect) reached(command string, taken bool, out *agent.Decoded) {
	d.turn.steers = slices.DeleteFunc(d.turn.steers, func(s steer) bool {
		if s.command != command {
			return false
		}
		if taken {
			out.Add(event.CommandDelivered{ID: command, How: "live"})
		}
		return true
	})
}
