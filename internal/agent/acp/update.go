package acp

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// updated reads a session/update. What comes outside of a turn, or of another session, changes nothing.
func (d *Dialect) updated(params []byte, out *agent.Decoded) {
	var session []byte
	update := members(d.fields[:0])
	fields := jsonscan.Object(params)
	for session == nil || len(update) == 0 { // what follows the two need not be looked at
		key, value, ok := fields.Open()
		if !ok {
			break
		}
		switch string(key) {
		case "sessionId":
			session = value[:jsonscan.Len(value)]
		case "update":
			about := jsonscan.Object(value)
			update = update.of(&about)
		}
	}
	if d.fields = update; cap(update) > keptMembers {
		d.fields = nil
	}
	kind := update.get("sessionUpdate")
	if !jsonscan.IsString(kind) {
		out.Add(event.AgentUnread{})
		return
	}
	mine := d.session == "" || jsonscan.EqualString(session, d.session)
	if mine && d.turn.open && d.phase == running {
		d.inTurn(update, kind, out)
	}
	if len(out.Facts) == 0 && !out.DropRaw {
		out.Add(event.AgentNoticed{What: short(kind)})
	}
}

func (d *Dialect) inTurn(update members, kind []byte, out *agent.Decoded) {
	switch string(kind) {
	case `"agent_message_chunk"`:
		d.chunk(update, false, out)
	case `"agent_thought_chunk"`:
		d.chunk(update, true, out)
	case `"tool_call"`, `"tool_call_update"`:
		d.toolUpdated(update, out)
	case `"plan"`:
		planned(update, out)
	case `"session_info_update"`:
		d.codexTold(jsonscan.Get(update.get("_meta"), "codex"), out)
	case `"usage_update"`:
		d.cost.read(update.get("cost"))
		if d.profile.asks {
			d.modelAsked(out)
		}
	}
}

// planned reads the agent's list of things to do, which is told whole each time.
func planned(update members, out *agent.Decoded) {
	var todos []event.Todo
	entries := jsonscan.Array(update.get("entries"))
	for entry, ok := entries.Next(); ok; entry, ok = entries.Next() {
		status := "pending"
		switch string(jsonscan.Get(entry, "status")) {
		case `"in_progress"`:
			status = "active"
		case `"completed"`:
			status = "done"
		}
		todos = append(todos, event.Todo{Text: text(jsonscan.Get(entry, "content")), Status: status})
	}
	out.Add(event.AgentPlanned{Todos: todos})
}

// alive delivers what the model was given with the request that it now answers: all that was steered before a tool returned.
// One that was steered after the request was made and before its first word came counts too early; an agent that takes steers at all asks
// the model once more for it.
func (d *Dialect) alive(out *agent.Decoded) {
	d.ownWords(out)
	d.turn.retries, d.turn.asked, d.turn.stuck = 0, false, ""
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
	d.say(nil, event.Plain(d.turn.repeat), false, out)
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
