package guardrail

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/units"
)

const (
	cutMark  = "... [truncated]"
	slugSize = 50
)

// Truncate returns the first n characters of text, followed by "... [truncated]" only when there are more. A byte that is not valid UTF-8
// is one character, and becomes U+FFFD; so does NUL, which no program takes in an argument.
func Truncate(text string, n int) string {
	var b strings.Builder
	for _, r := range text { // an invalid byte comes as U+FFFD
		if n <= 0 {
			b.WriteString(cutMark)
			break
		}
		n--
		if r == 0 {
			r = utf8.RuneError
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Slug returns a command as part of a file's name: its ASCII letters and digits, one underscore for whatever stands between
// them, at most 50 characters. It is never empty.
func Slug(command string) string {
	slug := make([]byte, 0, slugSize)
	gap := false
	for _, c := range []byte(command) {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9') {
			gap = len(slug) > 0
			continue
		}
		if gap {
			slug = append(slug, '_')
			gap = false
		}
		if slug = append(slug, c); len(slug) >= slugSize {
			break
		}
	}
	// A gap and the character after it may have been one too many.
	name := strings.TrimRight(string(slug[:min(len(slug), slugSize)]), "_")
	if name == "" {
		return "guardrail"
	}
	return name
}

// message is what the agent is told about a guardrail that failed. Command and hint are never cut.
func message(r Result, log, output string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Guardrail \"%s\" ", r.Guardrail.Command)
	switch {
	case r.TimedOut:
		fmt.Fprintf(&b, "timed out after %s.\n", units.Took(r.Guardrail.Timeout))
	case r.Signal != "":
		fmt.Fprintf(&b, "was ended by signal %s.\n", r.Signal)
	default:
		fmt.Fprintf(&b, "failed with exit code %d.\n", r.Code)
	}
	if r.Guardrail.Hint != "" {
		fmt.Fprintf(&b, "Hint: %s\n", r.Guardrail.Hint)
	}
	fmt.Fprintf(&b, "Output file: %s\nOutput (truncated):\n%s", log, output)
	whole := strings.ToValidUTF8(strings.ReplaceAll(b.String(), "\x00", "\uFFFD"), "\uFFFD")
	return strings.TrimRight(whole, "\r\n")
}
