package pi

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/fault"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// readFault reads an error that pi reports of a model or of a prompt. Pass only a field that pi
// calls an error.
//
// pi 1.5.2 makes such a message in one of five ways: of the HTTP status and the body of the answer
// ("429: {…}", with Anthropic's library "429 {…}", with a provider's name "Mistral API error (429):
// …"), of the body alone (Google, and errors in mid-stream), of the status and words ("500 Internal
// server error"), of a name and words (errors in mid-stream of OpenAI's responses:
// "server_is_overloaded: …"), or of the words of the fetch that failed. A body may quote what it
// was sent, so only its fields for programs count, and how its words begin.
func readFault(message string) fault.Fault {
	var status int
	words := message
	if m := statusPattern().FindStringSubmatch(message); m != nil {
		status, _ = strconv.Atoi(m[1] + m[2])
		words = strings.TrimPrefix(message[len(m[2]):], ":")
	}
	f, _, ok := fault.InBody(message)
	if !ok {
		f.Words = words
		if m := namePattern().FindStringSubmatch(message); m != nil {
			f.Names = m[1:]
		}
	}
	f.Status = cmp.Or(status, f.Status)
	return f
}

var (
	// in parentheses after a provider's name, or at the beginning
	statusPattern = units.Pattern(`^(?s:.{0,51}?) \(([45]\d\d)\):|^([45]\d\d)(?:[: ]|$)`)
	namePattern   = units.Pattern(`^(?:Error Code )?([a-z_]+): `)
)

// classify names the kind of an error message.
func classify(message string) event.FaultKind { return kindOf(readFault(message)) }

func kindOf(f fault.Fault) event.FaultKind { return cmp.Or(fault.Pi.Kind(f), event.KindOther) }

// until returns the moment that a provider's answer states for the end of a limit, RFC 3339 in UTC,
// or "".
func until(message string) string {
	_, body, ok := fault.InBody(message)
	if !ok {
		return ""
	}
	for _, path := range [][]string{{"resets_at"}, {"error", "resets_at"}, {"reset_at"}, {"error", "reset_at"}} {
		if at := agent.Int(body.Get(path...)); at > 1e9 && at < 1e11 { // seconds, from 2001 on
			return agent.UnixTime(at)
		}
	}
	return ""
}
