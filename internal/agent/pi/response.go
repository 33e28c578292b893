package pi

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// response reads the answer to a request. pi 1.5.2 answers each request exactly
// once, in any order, also after events that happened later.
func (d *Dialect) response(m *members, out *agent.Decoded) {
	id, command := m.get("id"), m.get("command")
	success := isTrue(m.get("success"))
	switch {
	case !isString(id):
		d.unparsed(m, out)
	case is(id, d.stateID):
		d.greetedBy(m.get("data"), out)
	case is(id, d.promptID):
		d.promptAnswered(success, m, out)
	case is(id, d.clearID):
		d.clearAnswered(success, m, out)
	case is(id, d.resetID):
		d.resetAnswered(success && string(jsonscan.Get(m.get("data"), "cancelled")) == "false", out)
	case is(id, d.turn.probe):
		d.looked(success, m.get("data"), out)
	case d.steers.answered(id) != nil:
		d.steerAnswered(d.steers.answered(id), success, m, out)
	case !success:
		out.Add(refused(command, m))
	}
}

func is(id []byte, awaited string) bool {
	return awaited != "" && jsonscan.EqualString(id, awaited)
}

func refused(command []byte, m *members) event.AgentNoticed {
	return event.AgentNoticed{What: text(command) + " refused", Text: text(m.get("error"))}
}

func (d *Dialect) greetedBy(state []byte, out *agent.Decoded) {
	d.greeted, d.stateID = true, ""
	if session := text(jsonscan.Get(state, "sessionId")); session != "" {
		out.Add(event.AgentNoticed{What: "session", Text: session})
	}
	if d.phase != greeting {
		return
	}
	if d.turn.aborting {
		d.finish(event.AgentFinished{Outcome: "aborted"}, out)
		return
	}
	out.Reply = append(out.Reply, d.askPrompt())
}

// promptAnswered starts the turn or ends it: no event follows a prompt that was
// refused, nor one that an extension took for itself.
func (d *Dialect) promptAnswered(success bool, m *members, out *agent.Decoded) {
	d.promptID = ""
	disposition := text(jsonscan.Get(m.get("data"), "disposition"))
	if disposition != "" {
		d.version.settles = true // both came with, or before, pi 0.99.0
	}
	switch {
	case d.phase != prompted:
		if !success {
			out.Add(refused(m.get("command"), m))
		}
	case !success:
		reason := text(m.get("error"))
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
func (d *Dialect) clearAnswered(success bool, m *members, out *agent.Decoded) {
	if !success && strings.HasPrefix(text(m.get("error")), "Unknown command") {
		d.outdated(out)
	}
	d.finishTurn(out)
}

// resetAnswered: pi answers success with cancelled true where an extension
// vetoed the new session. An answer that does not say cancelled is not trusted:
// a new process costs half a second, an old context the whole idea.
func (d *Dialect) resetAnswered(cleared bool, out *agent.Decoded) {
	d.resetID = ""
	if d.phase == resetting {
		d.phase = idle
	}
	out.Fresh, out.Stale = cleared, !cleared
}

func (d *Dialect) steerAnswered(s *steer, success bool, m *members, out *agent.Decoded) {
	switch {
	case !success:
		d.steers.forget(s)
		out.Add(refused(m.get("command"), m))
	case text(jsonscan.Get(m.get("data"), "disposition")) == "handled": // by an extension: it has had its effect
		d.steers.forget(s)
		out.Add(event.CommandDelivered{ID: s.command, How: "live"})
	default:
		d.steers.accepted(s)
	}
}

// unparsed: an answer without an id is the one to a line that pi could not read,
// which has to be the one that is waited for.
func (d *Dialect) unparsed(m *members, out *agent.Decoded) {
	out.Add(refused(m.get("command"), m))
	switch d.phase {
	case greeting:
		d.greetedBy(nil, out)
	case prompted:
		d.promptAnswered(false, m, out)
	case settling:
		d.finishTurn(out)
	case resetting:
		d.resetAnswered(false, out)
	}
}
