package pi

import (
	"cmp"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/fault"
	"github.com/ralph-loop/ralph/journal/event"
)

// readFault reads an error that pi reports of a model or of a prompt. Hand it nothing but a field that pi calls an error.
//
// pi 1.5.2 makes such a message in one of five ways: of the HTTP status and the body of the
// answer ("429: {…}", with Anthropic's library "429 {…}", with a provider's name "Mistral API
// error (429): …"), of the body alone (Google, and errors in mid-stream), of the status and words ("500
// Internal server error"), of a name and words (errors in mid-stream of OpenAI's responses: "server_is_overloaded: …"), or of the words
// of the fetch that failed. A body may
// quote what it was sent, so in it only what is meant for programs counts, and of its
// words how they begin.
func readFault(message string) fault.Fault {
	f := fault.Fault{Status: status(message), Words: afterStatus(message)}
	body, ok := fault.BodyIn(message)
	if !ok {
		if name := nameOf(message); name != "" {
			f.Names = append(f.Names, name)
		}
		return f
	}
	told := body.Fault()
	if f.Status != 0 {
		told.Status = f.Status
	}
	return told
}

// nameOf returns the name that a message begins with: "rate_limit_exceeded: …" or "Error Code rate_limit_exceeded: …"; "" where there is none.
func nameOf(message string) string {
	name, _, found := strings.Cut(strings.TrimPrefix(message, "Error Code "), ": ")
	if !found || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return ""
	}
	return name
}

// classify names the kind of an error message.
func classify(message string) string { return kindOf(readFault(message)) }

func kindOf(f fault.Fault) string { return cmp.Or(fault.Pi.Kind(f), event.KindOther) }

// longestName is how long the name of a provider may be in front of a status.
const longestName = 52

// status returns the HTTP status that a message begins with, or that stands in
// parentheses behind a provider's name; else 0.
func status(message string) int {
	if prefix, rest, found := strings.Cut(message, " ("); found && len(prefix) < longestName &&
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

// until returns the moment that a provider's answer states for the end of a limit, RFC 3339 in UTC, or "".
func until(message string) string {
	body, ok := fault.BodyIn(message)
	if !ok {
		return ""
	}
	for _, path := range [][]string{{"resets_at"}, {"error", "resets_at"}, {"reset_at"}, {"error", "reset_at"}} {
		if at := number(body.Whole.Get(path...)); at > 1e9 && at < 1e11 { // seconds, from 2001 on
			return time.Unix(at, 0).UTC().Format(time.RFC3339)
		}
	}
	return ""
}
