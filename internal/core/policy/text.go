package policy

import (
	"cmp"
	"fmt"
	"slices"
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

// locks are words about something that another program uses at the moment, in lower case: SQLite,
// in which some agents keep their state, and EAGAIN.
var locks = []string{"database is locked", "sqlite_busy", "resource temporarily unavailable"}

// held reports whether an error says that a lock is held.
func held(problem string) bool {
	problem = strings.ToLower(problem)
	return slices.ContainsFunc(locks, func(words string) bool { return strings.Contains(problem, words) })
}

// exitProblem says in one line how a process exited.
func exitProblem(p event.AgentExited) string {
	how := fmt.Sprintf("the agent exited with code %d", p.Code)
	if p.Signal != "" {
		how = "the agent was ended by signal: " + p.Signal
	}
	return how + complaint(p.Stderr)
}

// complaint returns the line of standard error that says what is wrong, after a colon; empty if
// there is none: the last line that names an error, or else the last one. Notices that are no
// complaint, and what frames a quoted line, do not count.
func complaint(stderr string) string {
	var last, named string
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		if line == "" || slices.Contains(harmless, line) || quotes(line) {
			continue
		}
		if last = line; namesError(line) {
			named = line
		}
	}
	if line := cmp.Or(named, last); line != "" {
		return ": " + lastBytes(line, 300)
	}
	return ""
}

// harmless are notices that Codex prints whatever comes after them.
var harmless = []string{"Reading prompt from stdin...", "Reading additional input from stdin..."}

// quotes reports whether a line is a part of a file with a frame around it, as compilers print it.
func quotes(line string) bool {
	return strings.HasPrefix(strings.TrimLeft(line, "0123456789 "), "|") ||
		!strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// namesError reports whether a line names an error: such a word, or a type whose name ends so.
func namesError(line string) bool {
	for _, word := range strings.FieldsFunc(strings.ToLower(line), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if strings.HasSuffix(word, "error") || word == "fatal" || word == "panic" || strings.HasSuffix(word, "exception") {
			return true
		}
	}
	return false
}
