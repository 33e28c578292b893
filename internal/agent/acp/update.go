package acp

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// updated reads a session/update. What comes outside of a turn, or of another session, changes nothing.
func (d *Dialect) updated(params jsonscan.Value, out *agent.Decoded) {
	session, update := params.Get("sessionId"), params.Get("update")
	kind := update.Get("sessionUpdate")
	if !kind.IsString() {
		out.Add(event.AgentUnread{})
		return
	}
	mine := d.session == "" || session.Says(d.session)
	if mine && d.turn.open && d.phase == running {
		d.inTurn(update, kind, out)
	}
	if len(out.Facts) == 0 && !out.DropRaw {
		out.Add(event.AgentNoticed{What: out.Name("", kind)})
	}
}

func (d *Dialect) inTurn(update, kind jsonscan.Value, out *agent.Decoded) {
	switch string(kind.Inner()) {
	case "agent_message_chunk":
		d.chunk(update, false, out)
	case "agent_thought_chunk":
		d.chunk(update, true, out)
	case "tool_call", "tool_call_update":
		d.toolUpdated(update, out)
	case "plan":
		planned(update, out)
	case "session_info_update":
		d.codexTold(update.Get("_meta", "codex"), out)
	case "usage_update":
		d.cost.read(update.Get("cost"))
		if d.profile.asks {
			d.modelAsked(out)
		}
	}
}

// planned reads the agent's list of things to do, which is told whole each time.
func planned(update jsonscan.Value, out *agent.Decoded) {
	var todos []event.Todo
	for entry := range update.Get("entries").Items() {
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
