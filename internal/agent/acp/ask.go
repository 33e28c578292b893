package acp

import (
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// requested answers a request of the agent's at once, so that nothing waits for a person. Only
// permissions are served: files and terminals were not offered.
func (d *Dialect) requested(method, id, params jsonscan.Value, out *agent.Decoded) {
	if !id.IsString() {
		if _, ok := id.Float(); !ok {
			out.Add(event.AgentUnparsed{})
			return
		}
	}
	if method.Says("session/request_permission") {
		d.permission(id, params, out)
		return
	}
	if method.Says("craft/drainMidTurnQueue") && d.profile.busy == isAsked {
		d.drained(id, params, out)
		return
	}
	out.Reply = append(out.Reply, reply(id, "error", object{"code": -32601, "message": "ralph does not serve this"}))
	out.Add(event.AgentNoticed{What: out.Name("", method), Text: "refused"})
}

// permission allows what its permissions allow and rejects all else, preferably once and not
// always: it changes no settings of the agent. While the turn is cancelled, ACP wants each such
// request to be answered as cancelled.
func (d *Dialect) permission(id, params jsonscan.Value, out *agent.Decoded) {
	call := updateOf(params.Get("toolCall"))
	what := strings.TrimSpace(out.Name("session/request_permission ", call.Get("title")))
	option, answer := offered(params.Get("options"), "allow_once", "allow_always")
	if !d.permits(call) {
		option, answer = offered(params.Get("options"), "reject_once", "reject_always")
	}
	if !option.Exists() || d.turn.aborting || !d.turn.open {
		out.Reply = append(out.Reply, reply(id, "result", object{"outcome": object{"outcome": "cancelled"}}))
		out.Add(event.AgentAsked{What: what, Answer: "cancelled"})
		return
	}
	d.toolSeen(call, true, out)
	out.Reply = append(out.Reply, reply(id, "result", object{"outcome": object{"outcome": "selected", "optionId": option.Text()}}))
	out.Add(event.AgentAsked{What: what, Answer: answer})
}

// drained answers with the steers: Qwen Code asks for them when a tool returns, and gives them to
// the model with the result.
func (d *Dialect) drained(id, params jsonscan.Value, out *agent.Decoded) {
	out.Add(event.AgentNoticed{What: "craft/drainMidTurnQueue"})
	messages := []string{}
	if d.phase == running && !d.turn.aborting && params.Get("sessionId").Says(d.session) {
		for _, s := range d.turn.held {
			messages = append(messages, s.text)
			d.turn.steers = append(d.turn.steers, steer{command: s.command, passed: true})
		}
		d.turn.held = nil
	}
	out.Reply = append(out.Reply, reply(id, "result", object{"messages": messages, "hasQueuedPrompt": false}))
}

// permits reports whether a call is allowed. Links in paths are not followed.
func (d *Dialect) permits(call update) bool {
	switch d.permissions {
	case agent.PermitAsk:
		return false
	case agent.PermitWorkspace:
	default:
		return true
	}
	switch string(call.Get("kind").Inner()) {
	case "read", "search", "think":
		return true
	case "edit", "delete", "move":
		return d.inside(call)
	}
	return false
}

// inside reports whether a call names files, and all of them are in the agent's folder.
func (d *Dialect) inside(call update) bool {
	named := 0
	for _, list := range []jsonscan.Value{call.Get("locations"), call.content} {
		for item := range list.Items() {
			path := item.Get("path")
			if !path.IsString() {
				continue
			}
			named++
			at := path.Text()
			if !filepath.IsAbs(at) {
				at = filepath.Join(d.dir, at)
			}
			if rel, err := filepath.Rel(d.dir, at); err != nil || !filepath.IsLocal(rel) {
				return false
			}
		}
	}
	return named > 0
}

// offered returns the id of the first option of one of these kinds, a JSON string, and its kind.
func offered(options jsonscan.Value, kinds ...string) (id jsonscan.Value, kind string) {
	for _, wanted := range kinds {
		for option := range options.Items() {
			id := option.Get("optionId")
			if id.IsString() && option.Get("kind").Says(wanted) {
				return id, wanted
			}
		}
	}
	return jsonscan.Value{}, ""
}
