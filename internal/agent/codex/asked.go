package codex

import (
	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// nobody is what the model is told instead of an answer.
const nobody = "Nobody is there to answer. Decide by yourself, and go on."

// requested answers at once, so that nothing waits for a person. Replies are written after further lines were decoded, so they
// have memory of their own.
func (d *Dialect) requested(method, id, value jsonscan.Value, out *agent.Decoded) {
	what, about := method.Text(), ""
	var result []byte
	answer := "decline"
	switch what {
	case "item/commandExecution/requestApproval", "item/fileChange/requestApproval":
		if d.trusts {
			answer = "accept"
		}
		about = agent.Brief(value.Get("command"))
		if about == "" {
			about = agent.Brief(value.Get("reason"))
		}
		result = []byte(`{"decision":"` + answer + `"}`)
	case "item/permissions/requestApproval":
		about = agent.Brief(value.Get("reason"))
		result = []byte(`{"permissions":{},"scope":"turn"}`)
	case "mcpServer/elicitation/request":
		about = agent.Brief(value.Get("message"))
		result = []byte(`{"action":"decline","content":null,"_meta":null}`)
	case "item/tool/requestUserInput":
		answer = nobody
		result, about = userInput(value.Get("questions"))
	default:
		// A tool that ralph never offered, a token or a time that it does not hand out, or what a later Codex asks.
		answer = "refused"
		out.Reply = append(out.Reply, append(append([]byte(`{"id":`), id.Raw()...),
			`,"error":{"code":-32601,"message":"ralph does not know this request"}}`...))
		out.Add(event.AgentAsked{What: agent.Cut(what), Answer: answer})
		return
	}
	reply := append(append([]byte(`{"id":`), id.Raw()...), `,"result":`...)
	out.Reply = append(out.Reply, append(append(reply, result...), '}'))
	if about != "" {
		what += ": " + about
	}
	out.Add(event.AgentAsked{What: agent.Cut(what), Answer: answer})
}

// userInput answers each of the questions alike.
func userInput(questions jsonscan.Value) (result []byte, about string) {
	result = []byte(`{"answers":{`)
	count := 0
	for question := range questions.Items() {
		id := question.Get("id")
		if !id.IsString() {
			continue
		}
		if count++; count == 1 {
			about = agent.Brief(question.Get("question"))
		} else {
			result = append(result, ',')
		}
		result = append(append(result, id.Raw()...), `:{"answers":["`+nobody+`"]}`...)
	}
	return append(result, `}}`...), about
}
