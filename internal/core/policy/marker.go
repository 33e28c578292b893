package policy

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

func promiseMarker(r event.Rules) string { return promiseOpen + r.Completion.Promise + promiseClose }

const (
	promiseOpen, promiseClose   = "<promise>", "</promise>"
	responseOpen, responseClose = "<response>", "</response>"
)

// anywhere returns the claim in any part of a text.
func anywhere(text string, r event.Rules) event.Claim {
	if r.Completion.Promise != "" && strings.Contains(text, promiseMarker(r)) {
		return event.ClaimPromise
	}
	if _, said, ok := response(text); ok && r.CompletionResponse != "" && strings.EqualFold(said, r.CompletionResponse) {
		return event.ClaimResponse
	}
	return ""
}

// hasMarker reports whether the marker is alone on a line or ends the last line.
func hasMarker(lines []string, marker string) bool {
	for i, line := range lines {
		if alone(line, marker) || i == len(lines)-1 && endsOutsideCode(strings.TrimSpace(line), marker) {
			return true
		}
	}
	return false
}

// firstResponse returns the text of the first response tag that is alone on its line or ends the
// last line.
func firstResponse(lines []string) (string, bool) {
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		whole, said, ok := response(trimmed)
		if ok && (alone(trimmed, whole) || i == len(lines)-1 && endsOutsideCode(trimmed, whole)) {
			return said, true
		}
	}
	return "", false
}

// alone reports whether a line holds the marker and otherwise only what Markdown and punctuation
// put around a sentence: a list item's mark, emphasis, a code span or quotation marks, and after it
// the end of a sentence or a symbol such as an emoji. A question, a struck-out marker and one in a
// block quotation are not alone: the agent asks, takes it back, or quotes.
func alone(line, marker string) bool {
	before, after, ok := strings.Cut(pastItems(strings.TrimSpace(line)), marker)
	return ok && strings.Trim(before, around+" ") == "" && strings.TrimFunc(after, closes) == ""
}

// around are the characters that may be on both sides of a marker: emphasis, code spans and
// quotation marks.
const around = "*_`\"'“”„‘’‚«»‹›"

// closes reports whether a character may follow a marker on its line.
func closes(c rune) bool {
	return strings.ContainsRune(around+".!,;:…。！", c) || unicode.IsSpace(c) ||
		unicode.In(c, unicode.So, unicode.Sk) || c == '\ufe0f' || c == '\u200d' // emoji, with how they are shown and joined
}

// response returns the first response tag that is closed on its line, and its text.
func response(text string) (whole, said string, ok bool) {
	for line := range strings.Lines(text) {
		open := indexFold(line, responseOpen)
		if open < 0 {
			continue
		}
		from := open + len(responseOpen)
		if length := indexFold(line[from:], responseClose); length >= 0 {
			return line[open : from+length+len(responseClose)], line[from : from+length], true
		}
	}
	return "", "", false
}

// indexFold returns where the tag begins in s, in any case. It does not lowercase s: some letters
// change their length.
func indexFold(s, tag string) int {
	for at := 0; ; at++ {
		next := strings.IndexByte(s[at:], '<')
		if next < 0 {
			return -1
		}
		at += next
		if len(s)-at >= len(tag) && strings.EqualFold(s[at:at+len(tag)], tag) {
			return at
		}
	}
}

// endsOutsideCode reports whether the line ends with the marker outside a code span: an odd number
// of backticks before it opens one.
func endsOutsideCode(line, marker string) bool {
	before, ok := strings.CutSuffix(line, marker)
	return ok && strings.Count(before, "`")%2 == 0
}

// tags matches what looks like a marker: its tag in any case, with any spaces, closed or not.
var tags = units.Pattern(`(?i)<\s*(promise|response)\s*>([^<\n]{0,200})(<\s*/\s*(?:promise|response)\s*>)?`)

// nearMiss returns the last text that looks like a claim and is none; nil if there is none. A tag
// that the settings have switched off does not look like a claim.
func nearMiss(text string, r event.Rules) *event.CompletionIgnored {
	if !strings.Contains(text, "<") {
		return nil
	}
	var found *event.CompletionIgnored
	for _, m := range tags().FindAllStringSubmatch(text, -1) {
		how, words := event.ClaimPromise, r.Completion.Promise
		exact := promiseOpen + words + promiseClose
		if strings.EqualFold(m[1], "response") {
			how, words = event.ClaimResponse, r.CompletionResponse
			exact = responseOpen + words + responseClose
		}
		if words == "" {
			continue
		}
		why := fmt.Sprintf("it does not say %q", words)
		switch {
		case m[0] == exact || how == event.ClaimResponse && strings.EqualFold(m[0], exact):
			why = "it is within other words or in code"
		case strings.EqualFold(strings.TrimSpace(m[2]), words):
			why = "it is spelled in another way"
		}
		found = &event.CompletionIgnored{How: how, Text: strings.TrimSpace(m[0]), Why: why}
	}
	return found
}
