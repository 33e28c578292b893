package acp

import (
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// requested answers a request of the agent's at once, so that nothing waits for a person. Nothing but permission is
// given: files and terminals were not offered.
func (d *Dialect) requested(method, id, params jsonscan.Value, out *agent.Decoded) {
	if !id.IsString() {
		if _, ok := id.Float(); !ok {
			out.Add(event.AgentUnread{})
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
	out.Reply = append(out.Reply, reply(id.Raw(), "error", `{"code":-32601,"message":"ralph does not serve this"}`))
	out.Add(event.AgentNoticed{What: out.Name("", method), Text: "refused"})
}

// permission says yes to what agent.permissions allow and no to all else, and rather once than always: what a person has set for the agent stays
// as it is. While the turn is cancelled ACP wants every such request answered with just that.
func (d *Dialect) permission(id, params jsonscan.Value, out *agent.Decoded) {
	var call update
	call.read(params.Get("toolCall"))
	what := strings.TrimSpace(out.Name("session/request_permission ", call.title))
	option, answer := offered(params.Get("options"), "allow_once", "allow_always")
	if !d.permits(&call) {
		option, answer = offered(params.Get("options"), "reject_once", "reject_always")
	}
	if !option.Exists() || d.turn.aborting || !d.turn.open {
		out.Reply = append(out.Reply, reply(id.Raw(), "result", `{"outcome":{"outcome":"cancelled"}}`))
		out.Add(event.AgentAsked{What: what, Answer: "cancelled"})
		return
	}
	d.toolSeen(&call, true, out)
	out.Reply = append(out.Reply, reply(id.Raw(), "result", `{"outcome":{"outcome":"selected","optionId":`+string(option.Raw())+`}}`))
	out.Add(event.AgentAsked{What: what, Answer: answer})
}

// drained hands over what was steered: Qwen Code asks for it when a tool returns, and gives it to the model with the result.
func (d *Dialect) drained(id, params jsonscan.Value, out *agent.Decoded) {
	out.Add(event.AgentNoticed{What: "craft/drainMidTurnQueue"})
	messages := []byte(`{"messages":[`)
	if d.phase == running && !d.turn.aborting && params.Get("sessionId").Says(d.session) {
		for i, s := range d.turn.held {
			if i > 0 {
				messages = append(messages, ',')
			}
			messages = jsonscan.AppendString(messages, s.text)
			d.turn.steers = append(d.turn.steers, steer{command: s.command, passed: true})
		}
		d.turn.held = nil
	}
	out.Reply = append(out.Reply, reply(id.Raw(), "result", string(append(messages, `],"hasQueuedPrompt":false}`...))))
}

// permits reports whether a call is allowed. A path is compared as it is spelled: where a link leads is not looked at.
func (d *Dialect) permits(call *update) bool {
	switch d.permissions {
	case agent.PermitAsk:
		return false
	case agent.PermitWorkspace:
	default:
		return true
	}
	switch string(call.kind.Inner()) {
	case "read", "search", "think":
		return true
	case "edit", "delete", "move":
		return d.inside(call)
	}
	return false
}

// inside reports whether a call names files, and all of them lie in the agent's folder.
func (d *Dialect) inside(call *update) bool {
	named := 0
	for _, list := range []jsonscan.Value{call.locations, call.content} {
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
