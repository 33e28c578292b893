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
func (d *Dialect) requested(method, id, value []byte, out *agent.Decoded) {
	what, about := text(method), ""
	var result []byte
	answer := "decline"
	switch what {
	case "item/commandExecution/requestApproval", "item/fileChange/requestApproval":
		if d.trusts {
			answer = "accept"
		}
		about = short(jsonscan.Get(value, "command"))
		if about == "" {
			about = short(jsonscan.Get(value, "reason"))
		}
		result = []byte(`{"decision":"` + answer + `"}`)
	case "item/permissions/requestApproval":
		about = short(jsonscan.Get(value, "reason"))
		result = []byte(`{"permissions":{},"scope":"turn"}`)
	case "mcpServer/elicitation/request":
		about = short(jsonscan.Get(value, "message"))
		result = []byte(`{"action":"decline","content":null,"_meta":null}`)
	case "item/tool/requestUserInput":
		answer = nobody
		result, about = userInput(jsonscan.Get(value, "questions"))
	default:
		// A tool that ralph never offered, a token or a time that it does not hand out, or what a later Codex asks.
		answer = "refused"
		out.Reply = append(out.Reply, append(append([]byte(`{"id":`), id...),
			`,"error":{"code":-32601,"message":"ralph does not know this request"}}`...))
		out.Add(event.AgentAsked{What: cut(what), Answer: answer})
		return
	}
	reply := append(append([]byte(`{"id":`), id...), `,"result":`...)
	out.Reply = append(out.Reply, append(append(reply, result...), '}'))
	if about != "" {
		what += ": " + about
	}
	out.Add(event.AgentAsked{What: cut(what), Answer: answer})
}

// userInput answers each of the questions alike.
func userInput(questions []byte) (result []byte, about string) {
	result = []byte(`{"answers":{`)
	count := 0
	list := jsonscan.Array(questions)
	for question, ok := list.Next(); ok; question, ok = list.Next() {
		id := jsonscan.Get(question, "id")
		if !jsonscan.IsString(id) {
			continue
		}
		if count++; count == 1 {
			about = short(jsonscan.Get(question, "question"))
		} else {
			result = append(result, ',')
		}
		result = append(append(result, id...), `:{"answers":["`+nobody+`"]}`...)
	}
	return append(result, `}}`...), about
}
