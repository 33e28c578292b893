package claude

import (
	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// nobody is what the model is told instead of an answer.
const nobody = "Nobody is there to answer. Decide by yourself, and go on."

// controlRequest answers at once, so that nothing waits for a person. Replies are written after further lines were
// decoded, so they have memory of their own.
func (d *Dialect) controlRequest(m members, out *agent.Decoded) {
	id, request := m.get("request_id"), m.get("request")
	if !jsonscan.IsString(id) {
		out.Add(event.AgentUnread{})
		return
	}
	subtype := jsonscan.Get(request, "subtype")
	if string(subtype) != `"can_use_tool"` {
		out.Reply = append(out.Reply, refuse(id, "ralph does not know this request"))
		out.Add(event.AgentNoticed{What: d.words.of("control_request/", subtype), Text: "refused"})
		return
	}
	tool := jsonscan.Get(request, "tool_name")
	answer := "allow"
	if asksPerson(tool, jsonscan.Get(request, "decision_reason_type")) {
		answer = "deny"
		out.Reply = append(out.Reply, deny(id))
	} else {
		out.Reply = append(out.Reply, allow(id, jsonscan.Get(request, "input")))
	}
	question := "can_use_tool " + text(tool)
	if reason := short(jsonscan.Get(request, "decision_reason")); reason != "" {
		question += ": " + reason
	}
	out.Add(event.AgentAsked{What: cut(question), Answer: answer})
}

// asksPerson reports whether a yes would be a lie: the model's questions to a person, and a hook that wants one to approve.
func asksPerson(tool, reason []byte) bool {
	switch string(tool) {
	case `"AskUserQuestion"`, `"EnterPlanMode"`:
		return true
	}
	return string(reason) == `"hook"`
}

func respond(id []byte, subtype string) []byte {
	line := append([]byte(nil), `{"type":"control_response","response":{"subtype":"`...)
	line = append(line, subtype...)
	line = append(line, `","request_id":`...)
	return append(line, id...)
}

// allow repeats the input as it was: the answer may change it.
func allow(id, input []byte) []byte {
	if !jsonscan.IsObject(input) {
		input = []byte(`{}`)
	}
	line := append(respond(id, "success"), `,"response":{"behavior":"allow","updatedInput":`...)
	line = append(line, input...)
	return append(line, `}}}`...)
}

func deny(id []byte) []byte {
	return append(respond(id, "success"), `,"response":{"behavior":"deny","message":"`+nobody+`"}}}`...)
}

func refuse(id []byte, why string) []byte {
	return append(respond(id, "error"), `,"error":"`+why+`"}}`...)
}
