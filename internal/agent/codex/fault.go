package codex

import (
	"cmp"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/fault"
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

// spentFor says that waiting does not bring back what is spent: the account has no windows, or something else than a window is used up.
func (a *account) spentFor() bool {
	switch {
	case a.spent, strings.HasSuffix(a.reached, "credits_depleted"):
		return true
	case a.reached != "", a.windows[0].known, a.windows[1].known:
		return false
	}
	return true
}

// kind returns the kind of an error as the app-server tells it, or other.
func (a *account) kind(info jsonscan.Value, words string) string {
	f := fault.Fault{Words: words}
	if name := info.Text(); name != "" {
		f.Names = append(f.Names, name)
	}
	for name, about := range info.Members() {
		f.Names = append(f.Names, string(name))
		f.Status = int(number(about.Get("httpStatusCode")))
	}
	kind := kindOf(f)
	if kind == event.KindQuota && !a.spentFor() {
		return event.KindRate
	}
	return kind
}

func kindOf(f fault.Fault) string { return cmp.Or(fault.Codex.Kind(f), event.KindOther) }

// judge says how a failed turn ended, and by which limit. 0.169.0 types a stream that breaks off while it tries again, and
// calls the very same error "other" when it gives up.
func (a *account) judge(failure jsonscan.Value, retried event.AgentRetried) (event.AgentFinished, event.AgentLimited) {
	why := agent.Brief(failure.Get("message"))
	kind := a.kind(failure.Get("codexErrorInfo"), why)
	if kind == event.KindOther && why != "" && why == retried.Text {
		kind = retried.Kind
	}
	return ended(kind, why, a.until())
}

// ended is how a turn ends that failed by this kind of fault.
func ended(kind, why, until string) (event.AgentFinished, event.AgentLimited) {
	finished := event.AgentFinished{Outcome: "error", Error: why, Kind: kind}
	if kind == event.KindContext {
		finished.Outcome = "length"
	}
	if kind != event.KindRate {
		until = ""
	}
	return finished, event.AgentLimited{Kind: kind, Text: why, Until: until}
}
