package acp

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// updated reads a session/update. One outside of a turn, or of another session, changes nothing.
func (d *Dialect) updated(params jsonscan.Value, out *agent.Decoded) {
	session := params.Get("sessionId")
	u := updateOf(params.Get("update"))
	if !u.what.IsString() {
		out.Add(event.AgentUnparsed{})
		return
	}
	mine := d.session == "" || session.Says(d.session)
	if mine && d.turn.open && d.phase == running {
		d.inTurn(u, out)
	}
	if len(out.Facts) == 0 && !out.DropRaw {
		out.Add(event.AgentNoticed{What: out.Name("", u.what)})
	}
}

// update is what a session/update reports, or the call for which permission is asked.
type update struct {
	jsonscan.Value
	what, content, meta jsonscan.Value
}

func updateOf(value jsonscan.Value) update {
	return update{value, value.Get("sessionUpdate"), value.Get("content"), value.Get("_meta")}
}

func (d *Dialect) inTurn(u update, out *agent.Decoded) {
	switch out.Text(u.what) {
	case "agent_message_chunk":
		d.chunk(u, false, out)
	case "agent_thought_chunk":
		d.chunk(u, true, out)
	case "tool_call", "tool_call_update":
		d.toolUpdated(u, out)
	case "plan":
		out.Plan(u.Get("entries"), "content")
	case "session_info_update":
		d.codexReport(u.meta.Get("codex"), out)
	case "notice":
		d.noticed(u, out)
	case "usage_update":
		d.cost.read(u.Get("cost"))
		if d.profile.asks {
			d.modelAsked(out)
		}
	}
}

// noticed reads a notice of the agent itself.
func (d *Dialect) noticed(u update, out *agent.Decoded) {
	words := agent.Brief(u.Get("title"))
	if more := agent.Brief(u.Get("description")); more != "" {
		words = strings.TrimPrefix(words+": "+more, ": ")
	}
	out.Add(event.AgentNoticed{What: out.Name("notice/", u.Get("severity")), Text: agent.Cut(words)})
}

// modelAnswered delivers the steers that the model was given with the request that it now answers:
// those from before a tool returned. A steer between the request and its first word is reported too
// early; an agent that takes steers asks the model once more for it.
func (d *Dialect) modelAnswered(out *agent.Decoded) {
	d.modelText(out)
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

// modelText reports words that were held back: the model was not asked again, so they are its own.
func (d *Dialect) modelText(out *agent.Decoded) {
	if d.turn.retryText == "" {
		return
	}
	d.say(jsonscan.Value{}, event.Plain(d.turn.retryText), false, out)
	d.turn.retryText = ""
}

// toolPassed notes that a tool's result goes to the model, and steers with it.
func (d *Dialect) toolPassed() {
	for i := range d.turn.steers {
		d.turn.steers[i].passed = true
	}
}

// steerAnswered notes the answer to a steer.
func (d *Dialect) steerAnswered(command string, taken bool, out *agent.Decoded) {
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
