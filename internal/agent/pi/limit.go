package pi

import (
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/jsonscan"
)

// limits reports whether a kind of error is one that waiting or a person mends.
func limits(kind string) bool {
	switch kind {
	case "rate", "overload", "quota", "auth", "network":
		return true
	}
	return false
}

// fault is an error that pi reports of a model or of a prompt. Hand readFault nothing but a
// field that pi calls an error.
//
// pi 0.87.1 makes such a message in one of four ways: of the HTTP status and the body of the
// answer ("429: {…}", with Anthropic's library "429 {…}", with a provider's name "Mistral API
// error (429): …"), of the body alone (Google, and errors in mid-stream), of the status and words ("500
// Internal server error"), or of the words of the fetch that failed. A body may
// quote what it was sent, so in it only what is meant for programs counts, and of its
// words how they begin.
type fault struct {
	status int
	body   jsonscan.Value // the JSON object in it, if there is one
	codes  []string       // the body's own names for the error, in lower case
	words  string         // the body's message, or all of it where there is no body; in lower case
}

func readFault(message string) fault {
	f := fault{status: status(message), words: strings.ToLower(strings.TrimSpace(afterStatus(message)))}
	before, rest, found := strings.Cut(message, "{")
	if !found || len(before) > longestPrefix {
		return f
	}
	body, err := new(jsonscan.Document).Read([]byte("{" + rest))
	if err != nil {
		return f
	}
	f.body = body
	about := body
	if inner := body.Get("error"); inner.IsObject() {
		about = inner
	}
	for _, key := range []string{"code", "type", "status"} {
		value := about.Get(key)
		if name := value.Text(); name != "" {
			f.codes = append(f.codes, strings.ToLower(name))
		} else if n := number(value); f.status == 0 && n >= 400 && n <= 599 {
			f.status = int(n)
		}
	}
	f.words = strings.ToLower(about.Get("message").Text())
	return f
}

// longestPrefix is how far into a message its body may begin; what comes later is quoted.
const longestPrefix = 60

// kind names the fault: see [event.AgentLimited], or other. A name that says what has to be
// done comes before the status; one that only says whose fault it is comes after it.
func (f fault) kind() string {
	if kind := f.named(codes); kind != "" {
		return kind
	}
	switch {
	case f.begins(quotaWords), f.status == 402:
		return "quota"
	case f.status == 401, f.status == 403:
		return "auth"
	case f.status == 429:
		return "rate"
	case f.status == 408:
		return "network"
	case f.status >= 500:
		return "overload"
	case f.status == 413, f.begins(contextWords):
		return "context"
	case f.status != 0:
		return "other"
	case f.body.Exists():
		return orOther(f.named(serverCodes))
	}
	for _, own := range ownWords {
		if f.begins(own.names) {
			return own.kind
		}
	}
	if slices.ContainsFunc(errnos, func(name string) bool { return strings.Contains(f.words, name) }) {
		return "network"
	}
	return "other"
}

func (f fault) named(table []naming) string {
	for _, row := range table {
		if slices.ContainsFunc(f.codes, func(code string) bool { return slices.Contains(row.names, code) }) {
			return row.kind
		}
	}
	return ""
}

func orOther(kind string) string {
	if kind == "" {
		return "other"
	}
	return kind
}

// classify names the kind of an error message.
func classify(message string) string { return readFault(message).kind() }

// naming lists what a kind of error is called.
type naming struct {
	kind  string
	names []string
}

// codes and serverCodes are what providers call an error where they speak to a program: Anthropic's type, OpenAI's code
// and type, Google's status, OpenCode's type.
var (
	codes = []naming{
		{"quota", []string{
			"insufficient_quota", "billing_error", "billing_hard_limit_reached", "billing_not_active",
			"gousagelimiterror", "freeusagelimiterror",
		}},
		{"auth", []string{
			"authentication_error", "permission_error", "invalid_api_key", "unauthenticated", "permission_denied", "token_expired",
		}},
		{"context", []string{"context_length_exceeded", "request_too_large", "model_context_window_exceeded"}},
		{"rate", []string{"rate_limit_error", "rate_limit_exceeded", "usage_limit_reached", "resource_exhausted", "too_many_requests"}},
	}
	serverCodes = []naming{
		{"overload", []string{"overloaded_error", "server_error", "api_error", "unavailable", "internal", "server_is_overloaded"}},
		{"network", []string{"timeout_error", "deadline_exceeded"}},
	}
)

var (
	// Of those who answer 400 or 429 and have no code for it.
	quotaWords = []string{
		"your credit balance is too low", "you exceeded your current quota", "monthly usage limit reached", "insufficient credits",
	}
	contextWords = []string{
		"prompt is too long", "prompt too long", "input is too long for requested model", "your input exceeds the context window",
		"this model's maximum context length is", "this endpoint's maximum context length is", "the input token count",
		"input token count", "the request exceeds the available context size", "please reduce the length of the messages",
	}
)

// ownWords are how messages without a status and a body begin: pi's own, and those of the
// libraries that it fetches with.
var ownWords = []naming{
	{"auth", []string{
		"no api key", "invalid api key", "invalid x-api-key", "authentication failed", "authentication_error",
		"unauthorized", "not logged in", "no model selected", "oauth token",
	}},
	{"rate", []string{"you have hit your chatgpt usage limit", "rate limit", "rate_limit", "too many requests", "throttling error"}},
	{"overload", []string{"overloaded", "internal server error", "service unavailable", "server_error", "server error", "bad gateway"}},
	{"network", []string{
		"connection", "network", "fetch failed", "request timed out", "timeout", "timed out", "socket", "terminated",
		"other side closed", "stream ended", "anthropic stream ended", "websocket", "upstream connect", "getaddrinfo",
		"http2 request did not get a response", "the socket connection was closed",
	}},
}

var errnos = []string{"econnrefused", "econnreset", "enotfound", "etimedout", "eai_again", "epipe", "und_err_"}

func (f fault) begins(with []string) bool {
	return slices.ContainsFunc(with, func(words string) bool { return strings.HasPrefix(f.words, words) })
}

// status returns the HTTP status that a message begins with, or that stands in
// parentheses behind a provider's name; else 0.
func status(message string) int {
	if prefix, rest, found := strings.Cut(message, " ("); found && len(prefix) < longestPrefix-8 &&
		len(rest) > 4 && rest[3] == ')' && rest[4] == ':' {
		message = rest[:3]
	}
	if len(message) < 3 || len(message) > 3 && message[3] != ':' && message[3] != ' ' {
		return 0
	}
	n := 0
	for _, c := range message[:3] {
		if c < '0' || c > '9' {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	if n < 400 || n > 599 {
		return 0
	}
	return n
}

// afterStatus returns a message without the status that it begins with.
func afterStatus(message string) string {
	if status(message) == 0 || message[0] < '0' || message[0] > '9' {
		return message
	}
	return strings.TrimPrefix(message[3:], ":")
}

// until returns the time at which the provider says that a limit ends, RFC 3339
// in UTC, or "". A body may state a moment. A span ("Try again in ~20 min.") is
// counted from when the message ended, in Unix milliseconds, since no clock is read here;
// 0 where pi did not say.
func (f fault) until(ended int64) string {
	for _, path := range [][]string{{"resets_at"}, {"error", "resets_at"}, {"reset_at"}, {"error", "reset_at"}} {
		if at := number(f.body.Get(path...)); at > 1e9 && at < 1e11 { // seconds, from 2001 on
			return time.Unix(at, 0).UTC().Format(time.RFC3339)
		}
	}
	_, rest, found := strings.Cut(f.words, "usage limit")
	if !found || f.body.Exists() || ended <= 0 {
		return ""
	}
	_, rest, found = strings.Cut(rest, "try again in ~")
	minutes := leadingNumber(rest)
	if !found || minutes < 0 || !strings.HasPrefix(strings.TrimLeft(rest, "0123456789"), " min") {
		return ""
	}
	// A minute more: pi rounds.
	return time.UnixMilli(ended).Add(time.Duration(minutes+1) * time.Minute).UTC().Format(time.RFC3339)
}

// leadingNumber returns the number that a text begins with, -1 where it is none or takes over a month of minutes.
func leadingNumber(s string) int {
	n, digits := 0, 0
	for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
		if n = n*10 + int(s[digits]-'0'); n > 31*24*60 {
			return -1
		}
		digits++
	}
	if digits == 0 {
		return -1
	}
	return n
}
