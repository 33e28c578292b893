package codex

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/fault"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// account is what Codex reported of the account's limits.
type account struct {
	windows [2]window
	reached string // rateLimitReachedType
	spent   bool   // spendControlReached
}

// window is one span of time in which so much may be used.
type window struct {
	known bool
	long  int64   // minutes
	used  float64 // percent
	reset int64   // Unix seconds; 0 if it was not said
}

// rateLimits takes what is new of the account. Codex reports it with each answer of the model and
// leaves out what it does not know.
func (d *Dialect) rateLimits(value jsonscan.Value, out *agent.Decoded) {
	before, a := d.account, &d.account
	limits := value.Get("rateLimits")
	a.windows[0].read(limits.Get("primary"))
	a.windows[1].read(limits.Get("secondary"))
	if reached := limits.Get("rateLimitReachedType"); reached.Exists() {
		a.reached = reached.Text()
	}
	if spent := limits.Get("spendControlReached"); spent.Exists() {
		a.spent = spent.IsTrue()
	}
	if out.DropRaw = *a == before; !out.DropRaw {
		out.Add(event.AgentNoticed{What: "account/rateLimits/updated", Text: agent.Cut(a.reached)})
	}
	if windows := a.quota(); a.windows != before.windows && len(windows) > 0 {
		out.Add(event.AgentQuota{Windows: windows})
	}
}

// maxWindow is the longest window that is believed, in minutes: a year.
const maxWindow = 365 * 24 * 60

func (w *window) read(value jsonscan.Value) {
	if !value.IsObject() {
		return
	}
	w.known = true
	w.long = min(agent.Int(value.Get("windowDurationMins")), maxWindow)
	w.used, _ = value.Get("usedPercent").Float()
	w.reset = agent.Int(value.Get("resetsAt"))
}

// quota returns what is used of each window.
func (a *account) quota() []event.QuotaWindow {
	var windows []event.QuotaWindow
	for _, w := range a.windows {
		if w.known && w.long > 0 {
			windows = append(windows, event.QuotaWindow{Minutes: int(w.long), Used: w.used, Resets: agent.UnixTime(w.reset)})
		}
	}
	return windows
}

// until returns when the last of the windows that are used up resets, RFC 3339 in UTC, or "".
func (a *account) until() string {
	var last int64
	for _, w := range a.windows {
		if w.known && w.used >= 100 {
			last = max(last, w.reset)
		}
	}
	return agent.UnixTime(last)
}

// spentFor says that waiting does not bring back what is spent: the account has no windows, or
// something other than a window is used up.
func (a *account) spentFor() bool {
	switch {
	case a.spent, strings.HasSuffix(a.reached, "credits_depleted"):
		return true
	case a.reached != "", a.windows[0].known, a.windows[1].known:
		return false
	}
	return true
}

// kind returns the kind of an error as the app-server reports it, or other.
func (a *account) kind(info jsonscan.Value, words string) event.FaultKind {
	f := readFault(words)
	f.AddInfo(info)
	kind := kindOf(f)
	if kind == event.KindQuota && !a.spentFor() {
		return event.KindRate
	}
	return kind
}

func kindOf(f fault.Fault) event.FaultKind { return cmp.Or(fault.Codex.Kind(f), event.KindOther) }

var statusPattern = units.Pattern(`^(?:unexpected status |exceeded retry limit, last status: )([45]\d\d)`)

// readFault reads Codex's words for a fault, which are all that exec reports: the status of an
// answer and what the model's server said, or how the stream of the answer broke off.
func readFault(words string) fault.Fault {
	f := fault.Fault{Words: words}
	if m := statusPattern().FindStringSubmatch(words); m != nil {
		f.Status, _ = strconv.Atoi(m[1])
	}
	if rest, ok := strings.CutPrefix(words, "stream disconnected before completion: "); ok {
		f.Words, f.Names = rest, append(f.Names, "responseStreamDisconnected")
	}
	return f
}

// outcome says how a failed turn ended, and by which limit. 0.169.0 types a stream that breaks off
// while it tries again, and calls the very same error "other" when it gives up.
func (a *account) outcome(failure jsonscan.Value, retried event.AgentRetried) (event.AgentFinished, event.AgentLimited) {
	why := agent.Brief(failure.Get("message"))
	kind := a.kind(failure.Get("codexErrorInfo"), why)
	if kind == event.KindOther && why != "" && why == retried.Text {
		kind = retried.Kind
	}
	return ended(kind, why, a.until())
}

// ended is how a turn ends that failed by this kind of fault.
func ended(kind event.FaultKind, why, until string) (event.AgentFinished, event.AgentLimited) {
	finished := event.AgentFinished{Outcome: "error", Error: why, Kind: kind}
	if kind == event.KindContext || strings.HasSuffix(why, "reason: max_output_tokens") {
		finished.Outcome = "length"
	}
	if kind != event.KindRate {
		until = ""
	}
	return finished, event.AgentLimited{Kind: kind, Text: why, Until: until}
}

// again reports that a request is made again. Codex obeys a retry-after of any length and does not
// state it: until the model answers, the turn is held up, so that a Codex which waits for longer
// than the loop does is not taken for one that hangs.
func (d *Dialect) again(kind event.FaultKind, why string, out *agent.Decoded) {
	t := &d.turn
	t.retries++
	if passes := kind == event.KindRate || kind == event.KindOverload || kind == event.KindNetwork; passes && (t.retries == 1 || kind != t.retried.Kind) {
		out.Limit(event.AgentLimited{Kind: kind, Text: why})
	}
	t.retried = event.AgentRetried{Attempt: t.retries, Kind: kind, Delay: fault.Span(why).Milliseconds(), Text: why}
	out.Add(t.retried)
}
