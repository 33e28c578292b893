package codex

import (
	"cmp"
	"encoding/json"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// requested answers a request at once, so that nothing waits for a person.
func (d *Dialect) requested(method, id, p jsonscan.Value, out *agent.Decoded) {
	what, about := method.Text(), ""
	var result any
	answer := "decline"
	switch what {
	case "item/commandExecution/requestApproval", "item/fileChange/requestApproval":
		if d.trusts {
			answer = "accept"
		}
		about = cmp.Or(agent.Brief(p.Get("command")), agent.Brief(p.Get("reason")))
		result = object{"decision": answer}
	case "item/permissions/requestApproval":
		about = agent.Brief(p.Get("reason"))
		result = object{"permissions": object{}, "scope": "turn"}
	case "mcpServer/elicitation/request":
		about = agent.Brief(p.Get("message"))
		result = object{"action": "decline", "content": nil, "_meta": nil}
	case "item/tool/requestUserInput":
		answer = agent.NoPerson
		about = agent.Brief(p.Get("questions").Item(0).Get("question"))
		answers := object{}
		for question := range p.Get("questions").Items() {
			if id := question.Get("id"); id.IsString() {
				answers[id.Text()] = object{"answers": []string{agent.NoPerson}}
			}
		}
		result = object{"answers": answers}
	default: // a tool that ralph never offered, a token, a time, or a request of a later Codex
		answer = "refused"
	}
	reply := object{"id": json.RawMessage(id.Raw()), "result": result}
	if result == nil {
		reply = object{"id": reply["id"], "error": object{"code": -32601, "message": "ralph does not know this request"}}
	}
	out.Reply = append(out.Reply, agent.Line(reply))
	if about != "" {
		what += ": " + about
	}
	out.Add(event.AgentAsked{What: agent.Cut(what), Answer: answer})
}
