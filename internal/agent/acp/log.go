package acp

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// opencodeRetries is how often opencode 1.18.33 makes a request again before it gives up.
const opencodeRetries = 5

// opencodeLogged reads what opencode logs of each request that failed, whether it makes it again or
// not: it does for faults that pass by themselves. Only the provider's words are reported. The
// request for a session's title may fail, and does not count.
func (d *Dialect) opencodeLogged(line []byte, out *agent.Decoded) bool {
	if !bytes.HasPrefix(line, []byte("timestamp=")) || !bytes.Contains(line, []byte(`message="stream error"`)) {
		return false
	}
	fields := map[string]string{}
	for _, m := range logfmt().FindAllSubmatch(line, -1) {
		fields[string(m[1])] = string(m[2])
		if bytes.HasPrefix(m[2], []byte{'"'}) {
			fields[string(m[1])] = jsonscan.Unquote(m[2])
		}
	}
	if fields["message"] != "stream error" || fields["small"] != "false" || !d.turn.open || d.phase != running {
		return false
	}
	failure := fields["error.error"]
	if name, words, ok := strings.Cut(failure, ": "); ok && !strings.Contains(name, " ") {
		failure = words
	}
	d.turn.retries++
	f := failureOf(failure)
	kind := f.kind()
	if kind == "other" && d.turn.retries > 1 {
		kind = "overload" // it was made again, so opencode does not give up for it at once
	}
	final := []event.FaultKind{event.KindAuth, event.KindContext, event.KindOther}
	if text := agent.Cut(f.Words); d.turn.retries > opencodeRetries || slices.Contains(final, kind) {
		out.Add(event.AgentNoticed{What: "stream error", Text: text})
	} else {
		d.again(event.AgentRetried{Attempt: d.turn.retries, Max: opencodeRetries, Kind: kind, Text: text}, out)
	}
	return true
}

// logfmt matches key=value. A value with a blank in it is a JSON string.
var logfmt = units.Pattern(`([^ =]+)=("(?:[^"\\]|\\.)*"|[^ ]*)`)

// geminiLogged reads Gemini CLI's log, which is on stderr because ralph asks for it. Only its
// warnings and errors are kept: the rest would not be printed without ralph.
func (d *Dialect) geminiLogged(line []byte, out *agent.Decoded) bool {
	entry := geminiEntry().FindSubmatch(line)
	if entry == nil {
		return d.geminiContinued(string(line), out)
	}
	d.turn.failed = event.AgentRetried{}
	if level := string(entry[1]); level != "WARN" && level != "ERROR" {
		out.DropRaw = true
		return true
	}
	retried, again := geminiRetry(string(entry[2]))
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

// geminiContinued reads a line that belongs to the one before: what a server said may be longer
// than a line.
func (d *Dialect) geminiContinued(line string, out *agent.Decoded) bool {
	if d.turn.failed.Attempt > 0 {
		_, delay, again := strings.Cut(line, " Retrying after ")
		if again {
			number, _, _ := strings.Cut(delay, "ms")
			d.turn.failed.Delay, _ = strconv.ParseInt(number, 10, 64)
			d.again(d.turn.failed, out)
			d.turn.failed = event.AgentRetried{}
		}
		return again
	}
	// Where an error was thrown, and what it carried.
	out.DropRaw = strings.HasPrefix(line, "  ") || line == "}" || line == "]"
	return out.DropRaw
}

var (
	geminiEntry = units.Pattern(`^\[.{23}Z\] \[([^\]]*)\] (.*)$`)
	// the fault is in the third group, or in the third and the last
	geminiAttempt = units.Pattern(`^Attempt ([1-9]\d*) failed(: )?(.*?)( Retrying after (\d+)ms.*| Retrying with backoff\.\.\.(.*))?$`)
)

// geminiRetry reads "Attempt 1 failed …". again is false if the line does not say that the request
// is made again.
func geminiRetry(words string) (retried event.AgentRetried, again bool) {
	m := geminiAttempt().FindStringSubmatch(words)
	if m == nil || strings.HasSuffix(words, "Max attempts reached") {
		return event.AgentRetried{}, false
	}
	retried.Attempt, _ = strconv.Atoi(m[1])
	retried.Delay, _ = strconv.ParseInt(m[5], 10, 64)
	f, kind := failureOf(m[3]), event.FaultKind("")
	if m[2] == "" {
		f = failureOf(m[6])
		f.Status = cmp.Or(f.Status, statusIn(m[3]))
		if kind = f.kind(); kind == event.KindOther {
			kind = event.KindOverload // as in opencodeLogged
		}
	} else if kind = f.kind(); kind == event.KindQuota || kind == event.KindOther {
		kind = event.KindRate // of an account that has nothing left it says another thing, and gives up
	}
	retried.Text, retried.Kind = agent.Cut(f.Words), kind
	return retried, m[4] != ""
}
