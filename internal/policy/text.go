package policy

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/journal/event"
)

// lastBytes returns the last n bytes of s or a little less, beginning at a rune.
func lastBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return s
}

// problemMost limits an error's text in a state: agents report whole answers of servers.
const problemMost = 4096

// firstBytes returns the first n bytes of s or a little less, ending at a rune.
func firstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// alike returns a hash of the end of an error's text without what differs each time: words with a
// digit (ids, ports, numbers, times), and the words of dates and durations. Two errors with the
// same hash are the same.
func alike(problem string) string {
	var left []string
	for word := range strings.FieldsFuncSeq(problem, between) {
		word = strings.ToLower(strings.Trim(word, ".:/-"))
		if word == "" || strings.ContainsAny(word, "0123456789") || strings.Contains(timeWords, " "+word+" ") {
			continue
		}
		left = append(left, word)
	}
	return hash(lastBytes(strings.Join(left, " "), 500))
}

// between reports whether a character separates words. The signs within ids, addresses and times do
// not.
func between(c rune) bool {
	return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_.:/-", c)
}

const timeWords = " am pm utc gmt ms s m h d w second seconds minute minutes min mins hour hours day days week weeks " +
	"mon tue wed thu fri sat sun monday tuesday wednesday thursday friday saturday sunday " +
	"jan feb mar apr may jun jul aug sep oct nov dec " +
	"january february march april june july august september october november december "

// exitProblem says in one line how a process exited.
func exitProblem(p event.AgentExited) string {
	how := fmt.Sprintf("the agent exited with code %d", p.Code)
	if p.Signal != "" {
		how = "the agent was ended by signal: " + p.Signal
	}
	return how + lastLine(p.Stderr)
}

// lastLine returns the last line of standard error, after a colon; empty if there is none.
func lastLine(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return ": " + lastBytes(last, 300)
	}
	return ""
}
