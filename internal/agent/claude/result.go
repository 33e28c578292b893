package claude

import (
	"cmp"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/fault"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// result reads the end of one of Claude's turns.
func (d *Dialect) result(m jsonscan.Value, out *agent.Decoded) {
	if uuid := m.Get("uuid"); uuid.IsString() {
		if uuid.Says(d.lastResult) {
			out.Add(event.AgentNoticed{What: "result/repeated"})
			return
		}
		d.lastResult = uuid.Text()
	}
	d.used(m, out)
	if tools := denied(m.Get("permission_denials")); tools != "" {
		out.Add(event.AgentNoticed{What: "result/permission_denials", Text: tools})
	}
	// All that the result covers was taken, even if no other line said so.
	for uuid := range m.Get("user_message_uuids").Items() {
		if sent := d.sentMessage(uuid); sent != nil {
			d.taken(sent, out)
		}
	}
	verdict := d.readOutcome(m)
	if fault.Waits(verdict.Kind) && d.turn.open && !d.turn.limited {
		d.turn.limited = true
		until := d.turn.until
		if verdict.Kind != event.KindRate {
			until = ""
		}
		out.Limit(event.AgentLimited{Kind: verdict.Kind, Until: until, Text: verdict.Error})
	}
	d.ended(verdict, out)
}

// readOutcome says how a turn went. Neither the subtype nor is_error nor the terminal reason is
// enough alone: every failure of the API is a "success" with is_error (2.1.197 even calls it
// completed), and what a hook stopped is no error. 2.1.329 leaves the reason out where the model
// was not asked at all: a prompt that a hook blocked, or a command of Claude's own such as
// /compact.
func (d *Dialect) readOutcome(m jsonscan.Value) event.AgentFinished {
	reason := m.Get("terminal_reason").Text()
	subtype := m.Get("subtype").Text()
	failed := m.Get("is_error").IsTrue()
	fine := subtype == "success" && !failed
	switch {
	case reason == "max_turns":
		return event.AgentFinished{Outcome: "length", Error: complaint(m, reason), Kind: "other"}
	case reason == "aborted_tools", reason == "aborted_streaming", subtype == "error_during_execution" && d.turn.aborting:
		return event.AgentFinished{Outcome: "aborted"}
	case subtype == "error_max_turns":
		return event.AgentFinished{Outcome: "length", Error: complaint(m, subtype), Kind: "other"}
	case fine && m.Get("stop_reason").Is("refusal"):
		return event.AgentFinished{Outcome: "error", Error: complaint(m, "refusal"), Kind: event.KindRefusal}
	case fine && d.turn.refusal != "":
		return agent.Refused(d.turn.refusal)
	case fine && reason == "" && string(m.Get("num_turns").Raw()) == "0" && !m.Get("local_command").Exists():
		return event.AgentFinished{Outcome: "error", Error: "the prompt was blocked, and the model was not asked", Kind: "other"}
	case fine && (reason == "completed" || reason == ""):
		return event.AgentFinished{Outcome: "ok"}
	}
	reason = cmp.Or(reason, subtype)
	verdict := event.AgentFinished{Outcome: "error", Error: complaint(m, reason), Kind: d.faultKind(m, failed && subtype == "success")}
	if verdict.Kind == event.KindContext || d.turn.cut && failed && subtype == "success" {
		verdict.Outcome = "length"
	}
	return verdict
}

// faultKind returns the kind of error that a failed turn ended with: the result's own, or, where
// the API failed and the result names no cause, that of the assistant's error before it.
func (d *Dialect) faultKind(m jsonscan.Value, api bool) event.FaultKind {
	kind := kindOf(m)
	if api && d.turn.fault != "" && (kind == "" || kind == event.KindOther) {
		kind = d.turn.fault
	}
	if kind == "" && d.variant != nil {
		kind = fault.Variant.Kind(fault.Fault{Words: complaint(m, "")})
	}
	return cmp.Or(kind, event.KindOther)
}

// complaint returns what Claude said about an error: the final text of one that the API made, the
// errors of its own, or else its name.
func complaint(m jsonscan.Value, name string) string {
	var said string
	if m.Get("is_error").IsTrue() {
		said = agent.Brief(m.Get("result"))
	}
	return cmp.Or(
		said,
		agent.Brief(m.Get("error")),            // of Amp
		agent.Brief(m.Get("error", "message")), // of Qwen Code
		agent.Cut(strings.Join(agent.Texts(m.Get("errors"), 8), "; ")),
		agent.Cut(name),
	)
}

// denied names the tools that were refused: the turn may still be a success.
func denied(list jsonscan.Value) string {
	return agent.Cut(strings.Join(agent.Texts(list, 64, "tool_name"), ", "))
}
