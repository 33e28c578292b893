package acp

import (
	"cmp"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/fault"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// authRequired is ACP's code for a missing login.
const authRequired = -32000

// failure is an error that an agent reports. Hand readFailure and failureOf nothing but what the agent calls one: its words
// are searched.
type failure struct {
	fault.Fault
	login bool // ACP's own code for a missing login
}

// said is a failure of which there are words alone.
func said(words string) failure { return failure{Fault: fault.Fault{Words: words}} }

// readFailure reads a JSON-RPC error. Agents put the provider's answer into its message or its data, as JSON or as words.
func readFailure(object jsonscan.Value) failure {
	f := failureOf(object.Get("message").Text())
	code, _ := object.Get("code").Int()
	f.login = code == authRequired
	if f.Status == 0 && fault.IsStatus(code) {
		f.Status = int(code)
	}
	data := object.Get("data")
	if name := data.Get("errorName").Text(); name != "" { // of opencode, which leaves out the status
		f.Names = append(f.Names, name)
	}
	details := data.Text()
	for _, path := range [][]string{{"details"}, {"message"}, {"error"}, {"error", "message"}, {"data", "message"}} {
		if details == "" {
			details = data.Get(path...).Text()
		}
	}
	if details != "" {
		more := failureOf(details)
		f.Words = strings.TrimSpace(f.Words + ": " + more.Words)
		f.Names = append(f.Names, more.Names...)
		if f.Status == 0 {
			f.Status = more.Status
		}
	}
	if f.Words == "" {
		f.Words = "an error without words"
	}
	return f
}

// failureOf reads an error's text, which may be the JSON body of the provider's answer.
func failureOf(message string) failure {
	f := failure{Fault: fault.Fault{Words: strings.TrimSpace(message)}}
	if body, ok := fault.BodyIn(message); ok {
		told := body.Fault()
		f.Names, f.Status = told.Names, told.Status
		if told.Words != "" {
			f.Words = told.Words
		}
		if told.Words != "" && len(told.Names) > 0 {
			f.Words = told.Names[0] + ": " + told.Words
		}
	}
	if f.Status == 0 {
		f.Status = statusIn(message)
	}
	return f
}

// codexTold reads what codex-acp 2.6.0 tells of a request that failed. When Codex gives up, its thread is in error, and the words
// that follow in the model's place say why; the turn then ends well.
func (d *Dialect) codexTold(about jsonscan.Value, out *agent.Decoded) {
	if status := about.Get("threadStatus", "type"); status.Exists() {
		d.turn.broken = status.Is("systemError")
		return
	}
	failed := about.Get("error")
	if !failed.Get("willRetry").IsTrue() {
		return
	}
	f := failureOf(failed.Get("additionalDetails").Text())
	if f.Words == "" {
		f = failureOf(failed.Get("message").Text())
	}
	info := failed.Get("codexErrorInfo")
	if name := info.Text(); name != "" {
		f.Names = append(f.Names, name)
	}
	for name, about := range info.Members() {
		f.Names = append(f.Names, string(name))
		if status, ok := about.Get("httpStatusCode").Int(); ok && fault.IsStatus(status) {
			f.Status = int(status)
		}
	}
	d.turn.retries++
	kind := f.kind()
	if kind == event.KindOther {
		kind = event.KindNetwork // of a stream that broke it tells no more than that
	}
	d.again(event.AgentRetried{Attempt: d.turn.retries, Kind: kind, Text: agent.Cut(f.Words)}, out)
}

// statusIn finds an HTTP status that stands by itself near the beginning of a message: "401 Unauthorized", "Request failed (429)".
func statusIn(message string) int {
	if len(message) > 120 {
		message = message[:120]
	}
	bound := func(at int) bool {
		return at < 0 || at == len(message) || strings.IndexByte(" :()[],;.=", message[at]) >= 0
	}
	for at := range len(message) - 2 {
		if message[at] != '4' && message[at] != '5' || !bound(at-1) || !bound(at+3) {
			continue
		}
		if status, ok := jsonscan.Int([]byte(message[at : at+3])); ok {
			return int(status)
		}
	}
	return 0
}

// kind names the fault: see [event.AgentLimited], or other. Only a status that tells something counts: Gemini CLI gives 500 to what had none,
// and a number in words may be none.
func (f failure) kind() string {
	known := f.Fault
	switch {
	case f.login:
		known.Status = 401
	case f.Status == 500, f.Status != 0 && fault.ByStatus(f.Status) == event.KindOther:
		known.Status = 0
	}
	kind := fault.ACP.Kind(known)
	if kind == "" && f.Status == 500 {
		kind = event.KindOverload
	}
	return cmp.Or(kind, event.KindOther)
}
