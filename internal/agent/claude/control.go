package claude

import (
	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// forbidden is what the model is told of what agent.permissions do not allow.
const forbidden = "The permissions of this loop do not allow that, and nobody is there to be asked. Find another way. " +
	"If there is none, end your answer with a line that says what you need: <blocked>what you need</blocked>"

// nobody is what the model is told instead of an answer.
const nobody = "Nobody is there to answer. Decide by yourself, and go on."

// controlRequest answers at once, so that nothing waits for a person. Replies are written after further lines were
// decoded, so they have memory of their own.
func (d *Dialect) controlRequest(m jsonscan.Value, out *agent.Decoded) {
	id, request := m.Get("request_id"), m.Get("request")
	if !id.IsString() {
		out.Add(event.AgentUnread{})
		return
	}
	subtype := request.Get("subtype")
	if !subtype.Is("can_use_tool") {
		out.Reply = append(out.Reply, refuse(id, "ralph does not know this request"))
		out.Add(event.AgentNoticed{What: out.Name("control_request/", subtype), Text: "refused"})
		return
	}
	tool := request.Get("tool_name")
	answer := "allow"
	switch {
	case asksPerson(tool, request.Get("decision_reason_type")):
		answer = "deny"
		out.Reply = append(out.Reply, deny(id, nobody))
	case d.confined:
		answer = "deny"
		out.Reply = append(out.Reply, deny(id, forbidden))
	default:
		out.Reply = append(out.Reply, allow(id, request.Get("input")))
	}
	question := "can_use_tool " + tool.Text()
	if reason := agent.Brief(request.Get("decision_reason")); reason != "" {
		question += ": " + reason
	}
	out.Add(event.AgentAsked{What: agent.Cut(question), Answer: answer})
}

// asksPerson reports whether a yes would be a lie: the model's questions to a person, and a hook that wants one to approve.
func asksPerson(tool, reason jsonscan.Value) bool {
	switch string(tool.Inner()) {
	case "AskUserQuestion", "EnterPlanMode":
		return true
	}
	return reason.Is("hook")
}

func respond(id jsonscan.Value, subtype string) []byte {
	line := append([]byte(nil), `{"type":"control_response","response":{"subtype":"`...)
	line = append(line, subtype...)
	line = append(line, `","request_id":`...)
	return append(line, id.Raw()...)
}

// allow repeats the input as it was: the answer may change it.
func allow(id, input jsonscan.Value) []byte {
	updated := []byte(`{}`)
	if input.IsObject() {
		updated = input.Raw()
	}
	line := append(respond(id, "success"), `,"response":{"behavior":"allow","updatedInput":`...)
	line = append(line, updated...)
	return append(line, `}}}`...)
}

func deny(id jsonscan.Value, why string) []byte {
	return append(respond(id, "success"), `,"response":{"behavior":"deny","message":"`+why+`"}}}`...)
}

func refuse(id jsonscan.Value, why string) []byte {
	return append(respond(id, "error"), `,"error":"`+why+`"}}`...)
}
