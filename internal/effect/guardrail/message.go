package guardrail

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

const (
	cutMark  = "... [truncated]"
	slugSize = 50
)

// Truncate returns the first n characters of text, followed by "... [truncated]" if there are more.
// A byte that is not valid UTF-8 is one character, and becomes U+FFFD; so does NUL, which an
// argument of a program cannot contain.
func Truncate(text string, n int) string {
	n = max(n, 0)
	runes := []rune(strings.ReplaceAll(text, "\x00", "\uFFFD")) // an invalid byte becomes U+FFFD
	if len(runes) > n {
		return string(runes[:n]) + cutMark
	}
	return string(runes)
}

var notSlug = units.Pattern(`[^a-zA-Z0-9]+`)

// Slug returns a command as part of a file's name: its ASCII letters and digits, with one
// underscore for everything between them, at most 50 characters. It is never empty.
func Slug(command string) string {
	slug := strings.Trim(notSlug().ReplaceAllString(command, "_"), "_")
	return cmp.Or(strings.TrimRight(slug[:min(len(slug), slugSize)], "_"), "guardrail")
}

// message describes a guardrail that failed to the agent. Command and hint are never cut.
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
	text := strings.ToValidUTF8(strings.ReplaceAll(b.String(), "\x00", "\uFFFD"), "\uFFFD")
	return strings.TrimRight(text, "\r\n")
}
