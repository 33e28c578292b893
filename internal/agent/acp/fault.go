package acp

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

// authRequired is ACP's code for a missing login.
const authRequired = -32000

// failure is an error that an agent reports. Pass readFailure and failureOf only what the agent
// calls one: its words are searched.
type failure struct {
	fault.Fault
	login bool // ACP's own code for a missing login
}

// failureText is a failure that has only words.
func failureText(words string) failure { return failure{Fault: fault.Fault{Words: words}} }

// readFailure reads a JSON-RPC error. Agents put the provider's answer into its message or its
// data, as JSON or as words.
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
		f.Status = cmp.Or(f.Status, more.Status)
	}
	f.Words = cmp.Or(f.Words, "an error without words")
	return f
}

// failureOf reads an error's text, which may be the JSON body of the provider's answer.
func failureOf(message string) failure {
	f := failure{Fault: fault.Fault{Words: strings.TrimSpace(message)}}
	if answer, _, ok := fault.InBody(message); ok {
		f.Names, f.Status = answer.Names, answer.Status
		f.Words = cmp.Or(answer.Words, f.Words)
		if answer.Words != "" && len(answer.Names) > 0 {
			f.Words = answer.Names[0] + ": " + answer.Words
		}
	}
	f.Status = cmp.Or(f.Status, statusIn(message))
	return f
}

// codexReport reads what codex-acp 2.6.0 reports of a request that failed. When Codex gives up, its
// thread is in error, and the words that follow in the model's place say why; the turn then ends
// well.
func (d *Dialect) codexReport(about jsonscan.Value, out *agent.Decoded) {
	if status := about.Get("threadStatus", "type"); status.Exists() {
		d.turn.broken = status.Is("systemError")
		return
	}
	failed := about.Get("error")
	if !failed.Get("willRetry").IsTrue() {
		return
	}
	f := failureOf(cmp.Or(failed.Get("additionalDetails").Text(), failed.Get("message").Text()))
	f.AddInfo(failed.Get("codexErrorInfo"))
	d.turn.retries++
	kind := f.kind()
	if kind == event.KindOther {
		kind = event.KindNetwork // of a stream that broke it reports no more
	}
	d.again(event.AgentRetried{Attempt: d.turn.retries, Kind: kind, Text: agent.Cut(f.Words)}, out)
}

// statusIn finds an HTTP status as a word of its own near the beginning of a message: "401
// Unauthorized", "Request failed (429)".
func statusIn(message string) (status int) {
	if m := statusPattern().FindStringSubmatch(message[:min(len(message), 120)]); m != nil {
		status, _ = strconv.Atoi(m[1])
	}
	return status
}

var statusPattern = units.Pattern(`(?:^|[ :()[\],;.=])([45]\d\d)(?:$|[ :()[\],;.=])`)

// kind names the fault: see [event.AgentLimited], or other. Only a status that says something
// counts: Gemini CLI gives 500 to what had none, and a number in words may be none.
func (f failure) kind() event.FaultKind {
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
