package claude

import (
	"cmp"
	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/fault"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
	"slices"
	"strings"
)

// system reads what Claude says about itself.
func (d *Dialect) system(m jsonscan.Value, out *agent.Decoded) {
	switch subtype := m.Get("subtype"); string(subtype.Inner()) {
	case "init":
		d.session = m.Get("session_id").Text()
		d.question.answers = d.question.answers || d.variant == nil && m.Get("claude_code_version").IsString()
		d.begun(out)
		if d.spent.gap {
			d.question.due = true // what an earlier process used is known before anything is added
			d.askUsage(out)
		}
		out.Notice("system/init", m.Get("claude_code_version"))
	case "api_retry":
		delay, _ := m.Get("retry_delay_ms").Float() // 2.1.197 writes fractions
		out.Add(event.AgentRetried{
			Attempt: int(agent.Int(m.Get("attempt"))), Max: int(agent.Int(m.Get("max_retries"))), Delay: milliseconds(delay),
			Kind: kindOf(m), Text: agent.Brief(m.Get("error")),
		})
	case "compact_boundary":
		about := m.Get("compact_metadata")
		out.Add(event.AgentCompacted{
			Trigger: about.Get("trigger").Text(), Before: agent.Int(about.Get("pre_tokens")), After: agent.Int(about.Get("post_tokens")),
		})
	case "permission_denied":
		out.Add(event.AgentNoticed{
			What: "system/permission_denied", Text: agent.Cut(m.Get("tool_name").Text() + ": " + agent.Brief(m.Get("message"))),
		})
	case "background_tasks_changed":
		d.background(m, out)
	case "hook_response":
		what := agent.Brief(m.Get("hook_name"))
		if outcome := m.Get("outcome").Text(); outcome != "success" {
			what += ": " + agent.Cut(outcome)
		}
		out.Add(event.AgentNoticed{What: "system/hook_response", Text: what})
	case "thinking_tokens": // comes many times for each thought
		out.Add(event.AgentNoticed{What: "system/thinking_tokens"})
	default:
		out.Add(event.AgentNoticed{What: out.Name("system/", subtype), Text: agent.Cut(agent.FirstText(m, notes...))})
	}
}

// notes are what a person would want to read of an event that changes nothing.
var notes = []string{"text", "content", "message", "summary", "description", "hook_name", "status", "compact_result"}

// milliseconds keeps a delay within a day: what is longer is no delay that anyone wrote on purpose.
func milliseconds(ms float64) int64 { return int64(min(max(ms, 0), 24*60*60*1000)) }

// rateLimit reads the state of a subscription's limit. While usage beyond it is paid for, it is
// no limit.
func (d *Dialect) rateLimit(m jsonscan.Value, out *agent.Decoded) {
	info := m.Get("rate_limit_info")
	window := info.Get("rateLimitType").Text()
	status := info.Get("status").Text()
	if windows := quotaWindows(info); len(windows) > 0 {
		out.Add(event.AgentQuota{Windows: windows})
	}
	if status != "rejected" || info.Get("isUsingOverage").IsTrue() {
		out.Add(event.AgentNoticed{What: "rate_limit_event", Text: agent.Cut(status + " " + window)})
		return
	}
	d.turn.until = resetTime(info.Get("resetsAt"))
	d.turn.limited = true
	out.Add(event.AgentLimited{Kind: "rate", Until: d.turn.until, Text: agent.Cut(window)})
}

// quotaWindows returns what a subscription has used of each of its windows: those of five hours and
// of seven days, of which there may be one for each model.
func quotaWindows(info jsonscan.Value) []event.QuotaWindow {
	var windows []event.QuotaWindow
	for name, w := range info.Get("unifiedWindows").Members() {
		minutes := 0
		switch {
		case string(name) == "five_hour":
			minutes = 5 * 60
		case strings.HasPrefix(string(name), "seven_day"):
			minutes = 7 * 24 * 60
		}
		if used, ok := w.Get("utilization").Float(); ok && minutes > 0 && len(windows) < maxWindows {
			windows = append(windows, event.QuotaWindow{Minutes: minutes, Used: 100 * used, Resets: resetTime(w.Get("resetsAt"))})
		}
	}
	slices.SortFunc(windows, func(a, b event.QuotaWindow) int {
		return cmp.Or(cmp.Compare(a.Minutes, b.Minutes), cmp.Compare(a.Used, b.Used))
	})
	return windows
}

// maxWindows bounds the windows of one event.
const maxWindows = 16

// resetTime returns a time in Unix seconds as RFC 3339.
func resetTime(value jsonscan.Value) string {
	return agent.UnixTime(agent.Int(value))
}

// kindOf returns the kind of an API error: see [event.AgentLimited], or other; "" if nothing names
// it. It reads api_retry, the assistant's error and the result alike. Names that say what is wrong
// with the account come before the status: 2.1.329 gives a spent balance as status 400, and only
// the assistant's error calls it billing_error. The status is null where no answer came.
func kindOf(m jsonscan.Value) event.FaultKind {
	var f fault.Fault
	for _, path := range [][]string{{"api_error"}, {"error"}, {"api_error_type"}, {"terminal_reason"}, {"stop_reason"}, {"message", "stop_reason"}} {
		if name := m.Get(path...).Text(); name != "" {
			f.Names = append(f.Names, name)
		}
	}
	status := m.Get("api_error_status")
	if !status.Exists() {
		status = m.Get("error_status")
	}
	if n, ok := status.Int(); ok {
		f.Status = int(n)
	}
	return fault.Claude.Kind(f)
}
