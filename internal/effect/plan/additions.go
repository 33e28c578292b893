package plan

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Placeholders that a person's prompt.md may contain, also as ${…}.
const (
	PlaceIteration = "$RALPH_ITERATION"
	PlaceMaximum   = "$RALPH_MAX_ITERATIONS"
)

// placeholder finds what may be a placeholder. A longer name is none: $RALPH_ITERATION_LOG stays.
var placeholder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$(?:RALPH_\w+|\{RALPH_\w+\})`)
})

// Fill replaces the placeholders in a text. A maximum below 1 is "unlimited". All other text, and
// variables with other names, stay as they are.
func Fill(text string, iteration, maximum int) string {
	most := "unlimited"
	if maximum > 0 {
		most = strconv.Itoa(maximum)
	}
	return placeholder().ReplaceAllStringFunc(text, func(found string) string {
		switch strings.NewReplacer("{", "", "}", "").Replace(found) {
		case PlaceIteration:
			return strconv.Itoa(iteration)
		case PlaceMaximum:
			return most
		}
		return found
	})
}

// Additions returns what a prompt.md adds to the prompt of an iteration: its text without comments
// and with its placeholders replaced. It is empty if the file has nothing but comments.
func Additions(promptFile string, iteration, maximum int) string {
	return Fill(strings.TrimSpace(withoutComments(promptFile)), iteration, maximum)
}

// withoutComments removes the HTML comments that begin a line, outside of fenced code. One that
// does not end stays.
func withoutComments(text string) string {
	var kept strings.Builder
	fence, ends := "", true // ends: there may be an end of a comment in the rest
	for len(text) > 0 {
		line, rest := text, ""
		if end := strings.IndexByte(text, '\n'); end >= 0 {
			line, rest = text[:end+1], text[end+1:]
		}
		trimmed := strings.TrimSpace(line)
		if ends && fence == "" && strings.HasPrefix(trimmed, "<!--") {
			_, after, _ := strings.Cut(text, "<!--")
			_, after, ends = strings.Cut(after, "-->")
			if ends {
				text = strings.TrimPrefix(after, "\n")
				continue
			}
		}
		fence = fenceAfter(fence, trimmed)
		kept.WriteString(line)
		text = rest
	}
	return kept.String()
}

// fenceAfter returns the fence that is open after a line; empty if none is.
func fenceAfter(open, line string) string {
	for _, mark := range [...]string{"```", "~~~"} {
		switch {
		case open == "" && strings.HasPrefix(line, mark):
			return mark
		case open == mark && strings.HasPrefix(line, mark) && strings.Trim(line, mark[:1]) == "":
			return ""
		}
	}
	return open
}
