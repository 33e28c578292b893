package hook

import (
	"bytes"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
)

// spokenTails are how many bytes of a transcript are read, until they begin before the wanted time.
// What was said before the last of them does not count.
var spokenTails = []int64{256 << 10, 4 << 20, 64 << 20}

// spoken returns what the assistant said and how many tools it called since a time. What subagents
// did is left out.
func (t *transcript) spoken(since time.Time) (Seen, error) {
	since = since.Truncate(time.Millisecond) // as transcripts have it
	for i, n := range spokenTails {
		data, offset, err := t.tail(n)
		if err != nil {
			return Seen{}, err
		}
		if offset == 0 || i == len(spokenTails)-1 || beginsBefore(data, since) {
			return scanSpoken(data, since), nil
		}
	}
	return Seen{}, nil
}

// beginsBefore reports whether the first line with a time is from before it.
func beginsBefore(data []byte, since time.Time) bool {
	var doc jsonscan.Document
	for line := range bytes.Lines(data) {
		if len(line) > longestLine {
			continue
		}
		if v, ok := parsed(&doc, line, `"timestamp"`); ok {
			if at, err := time.Parse(time.RFC3339Nano, v.Get("timestamp").Text()); err == nil {
				return at.Before(since)
			}
		}
	}
	return false
}

func scanSpoken(data []byte, since time.Time) Seen {
	var doc jsonscan.Document
	var seen Seen
	var text strings.Builder
	for line := range bytes.Lines(data) {
		if len(line) > longestLine {
			continue
		}
		v, ok := parsed(&doc, line, `"assistant"`, `_call"`)
		if !ok || v.Get("isSidechain").IsTrue() {
			continue
		}
		at, err := time.Parse(time.RFC3339Nano, v.Get("timestamp").Text())
		if err != nil || at.Before(since) {
			continue
		}
		payload := v.Get("payload") // of Codex
		switch {
		case v.Get("type").Is("assistant"):
			seen.ToolCalls += addTexts(&text, v.Get("message", "content"), "text")
		case !v.Get("type").Is("response_item"):
		case payload.Get("type").Is("message") && payload.Get("role").Is("assistant"):
			addTexts(&text, payload.Get("content"), "output_text")
		case strings.HasSuffix(payload.Get("type").Text(), "_call"): // function_call, custom_tool_call …
			seen.ToolCalls++
		}
	}
	seen.Text = text.String()
	return seen
}

// addTexts adds the texts of a message, each on lines of its own, and returns how many of its parts
// are calls of tools.
func addTexts(text *strings.Builder, content jsonscan.Value, kind string) (calls int) {
	if content.IsString() {
		text.WriteString(content.Text() + "\n")
	}
	for part := range content.Items() {
		switch {
		case part.Get("type").Is(kind):
			text.WriteString(part.Get("text").Text() + "\n")
		case part.Get("type").Is("tool_use"):
			calls++
		}
	}
	return calls
}
