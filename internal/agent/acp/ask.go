package acp

import (
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

// permission says yes, and rather once than always: what a person has set for the agent stays as it is. While the turn is
// cancelled ACP wants every such request answered with just that.
func (d *Dialect) permission(id, params jsonscan.Value, out *agent.Decoded) {
	var call update
	call.read(params.Get("toolCall"))
	what := strings.TrimSpace(out.Name("session/request_permission ", call.title))
	option, answer := consent(params.Get("options"))
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

// consent returns the id of the option that allows it, a JSON string, and its kind.
func consent(options jsonscan.Value) (id jsonscan.Value, kind string) {
	for _, wanted := range []string{"allow_once", "allow_always"} {
		for option := range options.Items() {
			id := option.Get("optionId")
			if id.IsString() && option.Get("kind").Says(wanted) {
				return id, wanted
			}
		}
	}
	return jsonscan.Value{}, ""
}
