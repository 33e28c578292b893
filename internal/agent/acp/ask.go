package acp

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// requested answers a request of the agent's at once, so that nothing waits for a person. Nothing but permission is
// given: files and terminals were not offered.
func (d *Dialect) requested(method, id, params []byte, out *agent.Decoded) {
	if !jsonscan.IsString(id) {
		if _, ok := jsonscan.Float(id); !ok {
			out.Add(event.AgentUnread{})
			return
		}
	}
	if string(method) == `"session/request_permission"` {
		d.permission(id, params, out)
		return
	}
	if string(method) == `"craft/drainMidTurnQueue"` && d.profile.busy == isAsked {
		d.drained(id, params, out)
		return
	}
	out.Reply = append(out.Reply, reply(id, "error", `{"code":-32601,"message":"ralph does not serve this"}`))
	out.Add(event.AgentNoticed{What: short(method), Text: "refused"})
}

// permission says yes, and rather once than always: what a person has set for the agent stays as it is. While the turn is
// cancelled ACP wants every such request answered with just that.
func (d *Dialect) permission(id, params []byte, out *agent.Decoded) {
	about := jsonscan.Object(jsonscan.Get(params, "toolCall"))
	call := members(nil).of(&about)
	what := "session/request_permission " + text(call.get("title"))
	option, answer := consent(jsonscan.Get(params, "options"))
	if option == nil || d.turn.aborting || !d.turn.open {
		out.Reply = append(out.Reply, reply(id, "result", `{"outcome":{"outcome":"cancelled"}}`))
		out.Add(event.AgentAsked{What: cut(strings.TrimSpace(what)), Answer: "cancelled"})
		return
	}
	d.toolSeen(call, true, out)
	out.Reply = append(out.Reply, reply(id, "result", `{"outcome":{"outcome":"selected","optionId":`+string(option)+`}}`))
	out.Add(event.AgentAsked{What: cut(strings.TrimSpace(what)), Answer: answer})
}

// drained hands over what was steered: Qwen Code asks for it when a tool returns, and gives it to the model with the result.
func (d *Dialect) drained(id, params []byte, out *agent.Decoded) {
	out.Add(event.AgentNoticed{What: "craft/drainMidTurnQueue"})
	messages := []byte(`{"messages":[`)
	if d.phase == running && !d.turn.aborting && jsonscan.EqualString(jsonscan.Get(params, "sessionId"), d.session) {
		for i, s := range d.turn.held {
			if i > 0 {
				messages = append(messages, ',')
			}
			messages = jsonscan.AppendString(messages, s.text)
			d.turn.steers = append(d.turn.steers, steer{command: s.command, passed: true})
		}
		d.turn.held = nil
	}
	out.Reply = append(out.Reply, reply(id, "result", string(append(messages, `],"hasQueuedPrompt":false}`...))))
}

// consent returns the id of the option that allows it, a JSON string, and its kind.
func consent(options []byte) (id []byte, kind string) {
	for _, wanted := range []string{"allow_once", "allow_always"} {
		list := jsonscan.Array(options)
		for option, ok := list.Next(); ok; option, ok = list.Next() {
			id := jsonscan.Get(option, "optionId")
			if jsonscan.IsString(id) && jsonscan.EqualString(jsonscan.Get(option, "kind"), wanted) {
				return id, wanted
			}
		}
	}
	return nil, ""
}
