package policy

import (
	"fmt"
	"strings"
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

// problemMost is how much of an error's text a state keeps: agents report whole answers of servers.
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

// exitProblem says in one line how a process ended that should not have.
func exitProblem(p event.AgentExited) string {
	how := fmt.Sprintf("the agent exited with code %d", p.Code)
	if p.Signal != "" {
		how = "the agent was ended by signal: " + p.Signal
	}
	lines := strings.Split(strings.TrimSpace(p.Stderr), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		how += ": " + lastBytes(last, 300)
	}
	return how
}
