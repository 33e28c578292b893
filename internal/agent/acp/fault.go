package acp

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// authRequired is ACP's code for a missing login.
const authRequired = -32000

// fault is an error that an agent reports. Hand readFault and faultOf nothing but what the agent calls one: its words
// are searched.
type fault struct {
	login  bool   // ACP's own code for a missing login
	status int    // HTTP; 0 where none is told
	name   string // what the agent's program calls it
	words  string
}

// readFault reads a JSON-RPC error. Agents put the provider's answer into its message or its data, as JSON or as words.
func readFault(object jsonscan.Value) fault {
	f := faultOf(object.Get("message").Text())
	code, _ := object.Get("code").Int()
	f.login = code == authRequired
	if f.status == 0 && isStatus(code) {
		f.status = int(code)
	}
	data := object.Get("data")
	f.name = data.Get("errorName").Text() // of opencode, which leaves out the status
	details := data.Text()
	for _, path := range [][]string{{"details"}, {"message"}, {"error"}, {"error", "message"}, {"data", "message"}} {
		if details == "" {
			details = data.Get(path...).Text()
		}
	}
	if details != "" {
		more := faultOf(details)
		f.words = strings.TrimSpace(f.words + ": " + more.words)
		if f.status == 0 {
			f.status = more.status
		}
	}
	if f.words == "" {
		f.words = "an error without words"
	}
	return f
}

// faultOf reads an error's text, which may be the JSON body of the provider's answer.
func faultOf(message string) fault {
	f := fault{words: strings.TrimSpace(message)}
	if about := bodyIn(message); about.IsObject() {
		if inner := about.Get("error"); inner.IsObject() {
			about = inner
		}
		if words := about.Get("message").Text(); words != "" {
			f.words = words
			for _, key := range []string{"status", "type", "code"} {
				if name := about.Get(key).Text(); name != "" {
					f.words = name + ": " + f.words
					break
				}
			}
		}
		for _, key := range []string{"code", "status"} {
			if n, ok := about.Get(key).Int(); ok && isStatus(n) {
				f.status = int(n)
			}
		}
	}
	if f.status == 0 {
		f.status = statusIn(message)
	}
	return f
}

// bodyIn finds a JSON object with which a message ends, behind a few words at the most.
func bodyIn(message string) jsonscan.Value {
	at := strings.IndexByte(message, '{')
	if at < 0 || at >= 60 {
		return jsonscan.Value{}
	}
	body, err := new(jsonscan.Document).Read([]byte(message[at:]))
	if err != nil {
		return jsonscan.Value{}
	}
	return body
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
	f := faultOf(failed.Get("additionalDetails").Text())
	if f.words == "" {
		f = faultOf(failed.Get("message").Text())
	}
	info := failed.Get("codexErrorInfo")
	f.name = info.Text()
	for name, about := range info.Members() {
		f.name = string(name)
		if status, ok := about.Get("httpStatusCode").Int(); ok && isStatus(status) {
			f.status = int(status)
		}
	}
	d.turn.retries++
	kind := f.kind()
	if kind == "other" {
		kind = "network" // of a stream that broke it tells no more than that
	}
	d.again(event.AgentRetried{Attempt: d.turn.retries, Kind: kind, Text: agent.Cut(f.words)}, out)
}

func isStatus(n int64) bool { return n >= 400 && n <= 599 }

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

// named is a kind by what the words hold.
type named struct {
	kind  string
	words []string
}

// telling are those that tell more than a status, in this order: Google says of a minute's share what it says of an empty account, and
// then when to ask again.
var telling = []named{
	{"rate", []string{"suggested retry after", "please retry in", "please try again in"}},
	{"quota", []string{
		"insufficient_quota", "exceeded your current quota", "credit balance", "insufficient credits", "billing",
		"usage limit", "quota exceeded", "out of credits", "insufficient balance", "exhausted your daily quota",
	}},
	{"context", []string{
		"context_length_exceeded", "context length", "prompt is too long", "input is too long", "context window",
	}},
}

// usual are the others.
var usual = []named{
	{"auth", []string{
		"authentication required", "authentication failed", "authentication_error", "unauthorized", "unauthenticated",
		"invalid api key", "invalid_api_key", "invalid x-api-key", "incorrect api key", "api key not valid", "api key is missing",
		"api key expired", "no api key", "not logged in", "log in", "permission_denied", "providerautherror", "token expired",
	}},
	{"rate", []string{"rate limit", "rate_limit", "too many requests", "resource_exhausted"}},
	{"overload", []string{"overloaded", "internal server error", "service unavailable", "bad gateway", "gateway timeout", "server_error"}},
	{"network", []string{
		"fetch failed", "econnrefused", "econnreset", "enotfound", "etimedout", "eai_again", "socket hang up",
		"network error", "connection error", "timed out", "unable to connect", "cannot connect", "connection closed", "connection was closed",
		"body from connection", "error sending request", ": terminated",
	}},
}

// kind names the fault: see event.AgentLimited, or other.
func (f fault) kind() string {
	words := strings.ToLower(f.name + " " + f.words)
	byWords := kindIn(words, telling)
	if byWords == "quota" || byWords == "context" {
		return byWords
	}
	if kind := f.byStatus(); kind != "" {
		return kind
	}
	if byWords == "" {
		byWords = kindIn(words, usual)
	}
	switch {
	case byWords != "":
		return byWords
	case f.status == 500: // Gemini CLI gives this number to what had none, so that words tell more
		return "overload"
	}
	return "other"
}

func kindIn(words string, kinds []named) string {
	for _, row := range kinds {
		if slices.ContainsFunc(row.words, func(w string) bool { return strings.Contains(words, w) }) {
			return row.kind
		}
	}
	return ""
}

// byStatus names the fault by the status that is told, "" where that tells nothing.
func (f fault) byStatus() string {
	switch {
	case f.login, f.status == 401, f.status == 403:
		return "auth"
	case f.status == 402:
		return "quota"
	case f.status == 408:
		return "network"
	case f.status == 413:
		return "context"
	case f.status == 429:
		return "rate"
	case f.status > 500:
		return "overload"
	}
	return ""
}
