package claude

import (
	"cmp"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/fault"
	"github.com/ralph-loop/ralph/internal/jsonscan"
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
	// What the result covers was taken, also where no other line said so.
	for uuid := range m.Get("user_message_uuids").Items() {
		if sent := d.mine(uuid); sent != nil {
			d.taken(sent, out)
		}
	}
	verdict := d.judge(m)
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

// judge says how a turn went. Neither the subtype nor is_error nor the terminal reason is enough alone: every failure of the API is a
// "success" with is_error (2.1.197 even calls it completed), and what a hook stopped is no error. 2.1.329 leaves the reason out where the model was
// not asked at all: a prompt that a hook blocked, or a command of Claude's own such as /compact.
func (d *Dialect) judge(m jsonscan.Value) event.AgentFinished {
	reason := m.Get("terminal_reason").Text()
	subtype := m.Get("subtype").Text()
	failed := m.Get("is_error").IsTrue()
	switch reason {
	case "aborted_tools", "aborted_streaming":
		return event.AgentFinished{Outcome: "aborted"}
	case "max_turns":
		return event.AgentFinished{Outcome: "length", Error: complaint(m, reason), Kind: "other"}
	case "prompt_too_long", "blocking_limit", "rapid_refill_breaker":
		// The last two are names in 2.1.329 for a context that is full and for one that is full again right after it was compacted.
		return event.AgentFinished{Outcome: "length", Error: complaint(m, reason), Kind: "context"}
	}
	switch {
	case subtype == "error_during_execution" && d.turn.aborting:
		return event.AgentFinished{Outcome: "aborted"}
	case subtype == "error_max_turns":
		return event.AgentFinished{Outcome: "length", Error: complaint(m, subtype), Kind: "other"}
	case subtype == "success" && !failed && m.Get("stop_reason").Is("refusal"):
		return event.AgentFinished{Outcome: "error", Error: complaint(m, "refusal"), Kind: event.KindRefusal}
	case subtype == "success" && !failed && reason == "completed":
		return event.AgentFinished{Outcome: "ok"}
	case subtype == "success" && !failed && reason == "":
		if string(m.Get("num_turns").Raw()) == "0" && !m.Get("local_command").Exists() {
			return event.AgentFinished{Outcome: "error", Error: "the prompt was blocked, and the model was not asked", Kind: "other"}
		}
		return event.AgentFinished{Outcome: "ok"}
	}
	if reason == "" {
		reason = subtype
	}
	verdict := event.AgentFinished{Outcome: "error", Error: complaint(m, reason), Kind: d.blame(m, failed && subtype == "success")}
	if verdict.Kind == event.KindContext || d.turn.cut && failed && subtype == "success" {
		verdict.Outcome = "length"
	}
	return verdict
}

// blame returns the kind of error that a failed turn ended with: the result's own, or, where the API failed and the result
// names no cause, that of the assistant's error before it.
func (d *Dialect) blame(m jsonscan.Value, api bool) string {
	kind := kindOf(m)
	if api && d.turn.fault != "" && (kind == "" || kind == event.KindOther) {
		kind = d.turn.fault
	}
	if kind == "" && d.variant != nil {
		kind = fault.Variant.Kind(fault.Fault{Words: complaint(m, "")})
	}
	return cmp.Or(kind, event.KindOther)
}

// complaint returns what Claude said about an error: the final text of one that the API made, the errors of its own, or
// else its name.
func complaint(m jsonscan.Value, name string) string {
	if m.Get("is_error").IsTrue() {
		if said := agent.Brief(m.Get("result")); said != "" {
			return said
		}
	}
	if said := agent.Brief(m.Get("error")); said != "" {
		return said // of Amp
	}
	if said := agent.Brief(m.Get("error", "message")); said != "" {
		return said // of Qwen Code
	}
	var all []string
	for item := range m.Get("errors").Items() {
		if len(all) == 8 {
			break
		}
		all = append(all, agent.Brief(item))
	}
	if len(all) > 0 {
		return agent.Cut(strings.Join(all, "; "))
	}
	return agent.Cut(name)
}

// denied names the tools that were refused: the turn may be a success all the same.
func denied(list jsonscan.Value) string {
	var names []string
	for item := range list.Items() {
		if len(names) == 64 {
			break
		}
		names = append(names, item.Get("tool_name").Text())
	}
	return agent.Cut(strings.Join(names, ", "))
}
