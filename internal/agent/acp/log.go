package acp

import (
	"bytes"
	"iter"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// logs is the form of an agent's own log on stderr. It is read where the protocol has no word for a request that failed
// and is made again. Only a whole line of that form counts: what a model or a tool says stands in none.
type logs uint8

const (
	noLog       logs = iota
	opencodeLog      // timestamp=… level=ERROR message="stream error" … error.error="AI_APICallError: …"
	geminiLog        // [2026-11-21T22:04:10.841Z] [WARN] Attempt 1 failed with status 503. Retrying with backoff...
)

// opencodeRetries is how often opencode 1.18.33 makes a request again before it gives up.
const opencodeRetries = 5

// logged reads a line of the agent's log, and reports whether it was one that needs no keeping as it is.
func (d *Dialect) logged(line []byte, out *agent.Decoded) bool {
	switch d.profile.logs {
	case opencodeLog:
		return d.opencodeLogged(line, out)
	case geminiLog:
		return d.geminiLogged(line, out)
	}
	return false
}

// opencodeLogged reads what opencode says of each request that failed, whether it makes it again or not: it does for what passes by
// itself. The provider's words are all that it tells; the title of a session, which it asks for aside, may fail.
func (d *Dialect) opencodeLogged(line []byte, out *agent.Decoded) bool {
	if !bytes.HasPrefix(line, []byte("timestamp=")) || !bytes.Contains(line, []byte(`message="stream error"`)) {
		return false
	}
	var message, small, failure string
	for key, value := range logfmt(line) {
		switch key {
		case "message":
			message = value
		case "small":
			small = value
		case "error.error":
			failure = value
		}
	}
	if message != "stream error" || small != "false" || !d.turn.open || d.phase != running {
		return false
	}
	if name, words, ok := strings.Cut(failure, ": "); ok && !strings.Contains(name, " ") {
		failure = words
	}
	d.turn.retries++
	f := failureOf(failure)
	kind := f.kind()
	if kind == "other" && d.turn.retries > 1 {
		kind = "overload" // it was made again, so it is none of what opencode gives up for at once
	}
	switch kind {
	case "auth", "context", "other":
		out.Add(event.AgentNoticed{What: "stream error", Text: agent.Cut(f.Words)})
	default:
		if d.turn.retries > opencodeRetries {
			out.Add(event.AgentNoticed{What: "stream error", Text: agent.Cut(f.Words)})
			break
		}
		d.again(event.AgentRetried{Attempt: d.turn.retries, Max: opencodeRetries, Kind: kind, Text: agent.Cut(f.Words)}, out)
	}
	return true
}

// logfmt yields the pairs of a line of key=value. A value with a blank in it is written as JSON writes a text.
func logfmt(line []byte) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		for {
			line = bytes.TrimLeft(line, " ")
			equals := bytes.IndexByte(line, '=')
			if equals <= 0 {
				return
			}
			key, rest := string(line[:equals]), line[equals+1:]
			var value string
			if end := quoted(rest); end > 0 {
				value, line = jsonscan.Unquote(rest[:end]), rest[end:]
			} else {
				word, after, _ := bytes.Cut(rest, []byte(" "))
				value, line = string(word), after
			}
			if !yield(key, value) {
				return
			}
		}
	}
}

// quoted returns the length of the quoted text that line begins with, 0 where there is none.
func quoted(line []byte) int {
	if len(line) == 0 || line[0] != '"' {
		return 0
	}
	for i := 1; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// geminiLogged reads Gemini CLI's log, which is on stderr because ralph asks for it. Of what it says there only warnings and
// errors are kept: the rest would not be there without ralph.
func (d *Dialect) geminiLogged(line []byte, out *agent.Decoded) bool {
	level, words, ok := geminiEntry(string(line))
	switch {
	case !ok:
		return d.geminiContinued(string(line), out)
	case level != "WARN" && level != "ERROR":
		d.turn.failed = event.AgentRetried{}
		out.DropRaw = true
		return true
	}
	retried, again := geminiRetry(words)
	d.turn.failed = event.AgentRetried{}
	switch {
	case !d.turn.open || d.phase != running || retried.Attempt == 0:
		return false
	case !again:
		d.turn.failed = retried
		return false
	}
	d.again(retried, out)
	return true
}

// geminiContinued reads a line that belongs to the one before: what a server said may be longer than a line.
func (d *Dialect) geminiContinued(line string, out *agent.Decoded) bool {
	if d.turn.failed.Attempt > 0 {
		_, delay, again := strings.Cut(line, " Retrying after ")
		if again {
			d.turn.failed.Delay = milliseconds(delay)
			d.again(d.turn.failed, out)
			d.turn.failed = event.AgentRetried{}
		}
		return again
	}
	// Where an error was thrown, and what it carried.
	out.DropRaw = strings.HasPrefix(line, "  ") || line == "}" || line == "]"
	return out.DropRaw
}

// geminiEntry takes the beginning of an entry apart.
func geminiEntry(line string) (level, words string, ok bool) {
	at, rest, ok := strings.Cut(line, "] [")
	if !ok || len(at) != len("[2026-11-21T22:04:10.841Z") || at[0] != '[' || at[len(at)-1] != 'Z' {
		return "", "", false
	}
	level, words, ok = strings.Cut(rest, "] ")
	return level, words, ok
}

// geminiRetry reads "Attempt 1 failed …". again is false where the line does not tell that the request is made again.
func geminiRetry(words string) (retried event.AgentRetried, again bool) {
	words, ok := strings.CutPrefix(words, "Attempt ")
	number, rest, found := strings.Cut(words, " failed")
	attempt, err := strconv.Atoi(number)
	if !ok || !found || err != nil || attempt <= 0 || strings.HasSuffix(rest, "Max attempts reached") {
		return event.AgentRetried{}, false
	}
	retried.Attempt = attempt
	if said, ok := strings.CutPrefix(rest, ": "); ok {
		said, delay, again := strings.Cut(said, " Retrying after ")
		f := failureOf(said)
		retried.Text, retried.Kind, retried.Delay = agent.Cut(f.Words), f.kind(), milliseconds(delay)
		if retried.Kind == "quota" || retried.Kind == "other" {
			retried.Kind = "rate" // of an account that has nothing left it says another thing, and gives up
		}
		return retried, again
	}
	how, cause, again := strings.Cut(rest, " Retrying with backoff...")
	f := failureOf(cause)
	if f.Status == 0 {
		f.Status = statusIn(how)
	}
	retried.Text, retried.Kind = agent.Cut(f.Words), f.kind()
	if retried.Kind == "other" {
		retried.Kind = "overload" // as in opencodeLogged
	}
	return retried, again
}

// milliseconds reads "5320ms...", 0 for anything else.
func milliseconds(delay string) int64 {
	number, _, _ := strings.Cut(delay, "ms")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
