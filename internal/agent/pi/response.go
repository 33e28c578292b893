package pi

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// response reads the answer to a request. pi 1.5.2 answers each request exactly
// once, in any order, also after events that happened later.
func (d *Dialect) response(m jsonscan.Value, out *agent.Decoded) {
	id, command := m.Get("id"), m.Get("command")
	success := m.Get("success").IsTrue()
	switch {
	case !id.IsString():
		d.unparsed(m, out)
	case agent.Answers(id, d.stateID):
		d.greetedBy(m.Get("data"), out)
	case agent.Answers(id, d.promptID):
		d.promptAnswered(success, m, out)
	case agent.Answers(id, d.clearID):
		d.clearAnswered(success, m, out)
	case agent.Answers(id, d.resetID):
		d.resetAnswered(success && string(m.Get("data", "cancelled").Raw()) == "false", out)
	case agent.Answers(id, d.turn.probe):
		d.probeAnswered(success, m.Get("data"), out)
	case d.steers.answered(id) != nil:
		d.steerAnswered(d.steers.answered(id), success, m, out)
	case !success:
		out.Add(refused(command, m))
	}
}

func refused(command jsonscan.Value, m jsonscan.Value) event.AgentNoticed {
	return event.AgentNoticed{What: command.Text() + " refused", Text: m.Get("error").Text()}
}

func (d *Dialect) greetedBy(state jsonscan.Value, out *agent.Decoded) {
	d.greeted, d.stateID = true, ""
	if d.session = state.Get("sessionId").Text(); d.session != "" {
		out.Add(event.AgentNoticed{What: "session", Text: d.session})
	}
	if d.phase == resetting {
		d.phase = idle
		out.Fresh, out.Own = true, true
	}
	if d.phase != greeting {
		return
	}
	out.Own = true // a launcher has pi as a child, and extensions may keep servers
	if d.turn.aborting {
		d.finish(event.AgentFinished{Outcome: "aborted"}, out)
		return
	}
	out.Reply = append(out.Reply, d.askPrompt())
}

// promptAnswered starts the turn or ends it: no event follows a prompt that was
// refused, nor one that an extension took for itself.
func (d *Dialect) promptAnswered(success bool, m jsonscan.Value, out *agent.Decoded) {
	d.promptID = ""
	disposition := m.Get("data", "disposition").Text()
	if disposition != "" {
		d.version.settles = true // both came with, or before, pi 0.99.0
	}
	switch {
	case d.phase != prompted:
		if !success {
			out.Add(refused(m.Get("command"), m))
		}
	case !success:
		reason := m.Get("error").Text()
		d.finish(event.AgentFinished{Outcome: "error", Error: reason, Kind: classify(reason)}, out)
	case disposition == "handled":
		d.finish(event.AgentFinished{
			Outcome: "error",
			Error:   "an extension of pi took the prompt as its own command; the model was not asked",
			Kind:    "other",
		}, out)
	default:
		d.accepted(out)
	}
}

// clearAnswered finishes the turn, also where pi does not know clear_queue
// (before 0.84.4). The texts that came back are steers without a delivery.
func (d *Dialect) clearAnswered(success bool, m jsonscan.Value, out *agent.Decoded) {
	if !success && strings.HasPrefix(m.Get("error").Text(), "Unknown command") {
		d.outdated(out)
	}
	d.finishTurn(out)
}

// resetAnswered: pi answers success with cancelled true where an extension vetoed the new session.
// An answer that does not say cancelled is not trusted: a new process costs half a second, an old
// context the purpose of a loop. What the new session is called is asked for before it is used.
func (d *Dialect) resetAnswered(cleared bool, out *agent.Decoded) {
	d.resetID = ""
	switch {
	case d.phase != resetting:
	case cleared:
		d.stateID = d.requests.Next()
		out.Reply = append(out.Reply, request(d.stateID, "get_state"))
		return
	default:
		d.phase = idle
	}
	out.Stale = true
}

func (d *Dialect) steerAnswered(s *steer, success bool, m jsonscan.Value, out *agent.Decoded) {
	switch {
	case !success:
		d.steers.forget(s)
		out.Add(refused(m.Get("command"), m))
	case m.Get("data", "disposition").Text() == "handled": // by an extension: it has had its effect
		d.steers.forget(s)
		out.Add(event.CommandDelivered{ID: s.command, How: "live"})
	default:
		d.steers.accepted(s)
	}
}

// unparsed: an answer without an id is the one to a line that pi could not read,
// which has to be the one that is waited for.
func (d *Dialect) unparsed(m jsonscan.Value, out *agent.Decoded) {
	out.Add(refused(m.Get("command"), m))
	switch d.phase {
	case greeting:
		d.greetedBy(jsonscan.Value{}, out)
	case prompted:
		d.promptAnswered(false, m, out)
	case settling:
		d.finishTurn(out)
	case resetting:
		d.resetAnswered(false, out)
	}
}
