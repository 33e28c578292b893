package claude

import (
	"encoding/json"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// forbidden is the answer to what its permissions do not allow.
const forbidden = "The permissions of this loop do not allow that, and no person is there to ask. Find another way. " +
	"If there is none, end your answer with a line that says what you need: <blocked>what you need</blocked>"

// controlRequest answers a request at once, so that nothing waits for a person.
func (d *Dialect) controlRequest(m jsonscan.Value, out *agent.Decoded) {
	id, request := m.Get("request_id"), m.Get("request")
	if !id.IsString() {
		out.Add(event.AgentUnparsed{})
		return
	}
	subtype := request.Get("subtype")
	if !subtype.Is("can_use_tool") {
		out.Reply = append(out.Reply, respond(id, "error", "error", "ralph does not know this request"))
		out.Add(event.AgentNoticed{What: out.Name("control_request/", subtype), Text: "refused"})
		return
	}
	tool := request.Get("tool_name")
	answer, why := "allow", ""
	switch {
	case tool.Is("AskUserQuestion"), tool.Is("EnterPlanMode"), request.Get("decision_reason_type").Is("hook"):
		// for a person: the model's questions, and a hook that wants approval
		answer, why = "deny", agent.NoPerson
	case d.confined:
		answer, why = "deny", forbidden
	}
	decision := object{"behavior": answer}
	if why != "" {
		decision["message"] = why
	} else {
		decision["updatedInput"] = json.RawMessage(`{}`) // the answer may change the input
		if input := request.Get("input"); input.IsObject() {
			decision["updatedInput"] = json.RawMessage(input.Raw())
		}
	}
	out.Reply = append(out.Reply, respond(id, "success", "response", decision))
	question := "can_use_tool " + tool.Text()
	if reason := agent.Brief(request.Get("decision_reason")); reason != "" {
		question += ": " + reason
	}
	out.Add(event.AgentAsked{What: agent.Cut(question), Answer: answer})
}

// controlResponse reads the answer to a request of ours.
func (d *Dialect) controlResponse(m jsonscan.Value, out *agent.Decoded) {
	response := m.Get("response")
	if id := response.Get("request_id").Text(); id != "" && id == d.question.id {
		d.usageAnswered(response.Get("response"), out)
	}
	out.Notice("control_response", response.Get("error"))
}

func respond(id jsonscan.Value, subtype, member string, value any) []byte {
	response := object{"subtype": subtype, "request_id": json.RawMessage(id.Raw()), member: value}
	return agent.Line(object{"type": "control_response", "response": response})
}
