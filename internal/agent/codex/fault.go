package codex

import (
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// account is what Codex has told of the account's limits.
type account struct {
	windows [2]window
	reached string // rateLimitReachedType
	spent   bool   // spendControlReached
}

// window is one span of time in which so much may be used.
type window struct {
	known bool
	used  float64 // percent
	reset int64   // Unix seconds; 0 where it was not said
}

// rateLimits takes what is new of the account. Codex tells it with each answer of the model and leaves out what it does not know.
func (d *Dialect) rateLimits(value jsonscan.Value, out *agent.Decoded) {
	before, a := d.account, &d.account
	for key, value := range value.Get("rateLimits").Members() {
		switch string(key) {
		case "primary":
			a.windows[0].read(value)
		case "secondary":
			a.windows[1].read(value)
		case "rateLimitReachedType":
			a.reached = value.Text()
		case "spendControlReached":
			a.spent = value.IsTrue()
		}
	}
	if out.DropRaw = *a == before; !out.DropRaw {
		out.Add(event.AgentNoticed{What: "account/rateLimits/updated", Text: agent.Cut(a.reached)})
	}
}

func (w *window) read(value jsonscan.Value) {
	if !value.IsObject() {
		return
	}
	w.known = true
	w.used, _ = value.Get("usedPercent").Float()
	w.reset = number(value.Get("resetsAt"))
}

// until returns when the last of the windows that are used up resets, RFC 3339 in UTC, or "".
func (a *account) until() string {
	const year9999 = 253402300799
	var last int64
	for _, w := range a.windows {
		if w.known && w.used >= 100 && w.reset > 0 && w.reset <= year9999 {
			last = max(last, w.reset)
		}
	}
	if last == 0 {
		return ""
	}
	return time.Unix(last, 0).UTC().Format(time.RFC3339)
}

// usageLimit names the limit of an account that may not go on; see the package.
func (a *account) usageLimit() string {
	switch {
	case a.spent, strings.HasSuffix(a.reached, "credits_depleted"):
		return "quota"
	case a.reached != "", a.windows[0].known, a.windows[1].known:
		return "rate"
	}
	return "quota"
}

// kind returns the kind of an error by its codexErrorInfo: see [event.AgentLimited], or other.
func (a *account) kind(info jsonscan.Value) string {
	name, status := info.Text(), int64(0)
	if info.IsObject() {
		name = "other"
		for key, about := range info.Members() { // there is one
			name, status = string(key), number(about.Get("httpStatusCode"))
			break
		}
	}
	switch name {
	case "usageLimitExceeded":
		return a.usageLimit()
	case "rateLimitExceeded":
		return "rate"
	case "serverOverloaded", "internalServerError", "flexUnavailable", "policyCapacityUnavailable":
		return "overload"
	case "contextWindowExceeded":
		return "context"
	case "unauthorized":
		return "auth"
	case "httpConnectionFailed", "responseStreamConnectionFailed", "responseStreamDisconnected", "responseTooManyFailedAttempts":
		return byStatus(status)
	}
	return "other"
}

// byStatus names a failed exchange with the model's server. Without a status there was no answer, or it broke off.
func byStatus(status int64) string {
	switch {
	case status == 0, status == 408:
		return "network"
	case status == 401, status == 403:
		return "auth"
	case status == 402:
		return "quota"
	case status == 429:
		return "rate"
	case status >= 500:
		return "overload"
	}
	return "other"
}

// judge says how a failed turn ended, and by which limit. 0.169.0 types a stream that breaks off while it tries again, and
// calls the very same error "other" when it gives up.
func (a *account) judge(failure jsonscan.Value, retried event.AgentRetried) (event.AgentFinished, event.AgentLimited) {
	kind := a.kind(failure.Get("codexErrorInfo"))
	why := agent.Brief(failure.Get("message"))
	if kind == "other" && why != "" && why == retried.Text {
		kind = retried.Kind
	}
	finished := event.AgentFinished{Outcome: "error", Error: why, Kind: kind}
	switch kind {
	case "context":
		finished.Outcome = "length"
		return finished, event.AgentLimited{}
	case "other":
		return finished, event.AgentLimited{}
	}
	limited := event.AgentLimited{Kind: kind, Text: why}
	if kind == "rate" {
		limited.Until = a.until()
	}
	return finished, limited
}
