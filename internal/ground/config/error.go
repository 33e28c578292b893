package config

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An Error is one thing that is wrong with the settings, and its place.
type Error struct {
	// as people know it: .ralph/settings.json, RALPH_LIMITS_IDLE, command line; empty for a value
	// made in Go
	File   string
	Line   int // from 1; 0 where there are no lines
	Column int // in characters, from 1; 0 where there are no lines
	// dotted, with the index in lists: guardrails[1].failAction; empty for a syntax error
	Key     string
	Problem string // what is wrong, the key named
	Nearest string // the known key or value nearest to the one given, if any is near

	advice string
	at     int // the offset in the text that was read; 0 if it is not known yet
}

// in completes an error of the text of a file.
func (e *Error) in(file string, text []byte) *Error {
	e.File = file
	e.Line, e.Column = locate(text, e.at)
	return e
}

// Error reads "file:line: problem"; a syntax error names the column too.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		if e.Line > 0 {
			b.WriteByte(':')
			b.WriteString(strconv.Itoa(e.Line))
			if e.Key == "" {
				b.WriteByte(':')
				b.WriteString(strconv.Itoa(e.Column))
			}
		}
		b.WriteString(": ")
	}
	b.WriteString(e.Problem)
	return b.String()
}

// Hint is one sentence on what to do about it.
func (e *Error) Hint() string {
	switch {
	case e.Nearest != "":
		return "did you mean " + strconv.Quote(e.Nearest) + "?"
	case e.advice != "":
		return e.advice
	case e.Key != "":
		return fmt.Sprintf("'ralph doctor --schema' and docs/reference/settings.md say what %s takes", e.Key)
	}
	return "correct it there; 'ralph doctor' shows what is read"
}

func unknownKey(key string) *Error {
	e := &Error{Key: key, Problem: "unknown key " + strconv.Quote(key), Nearest: nearestKey(key)}
	if e.Nearest == "" {
		e.advice = "'ralph doctor --schema' and docs/reference/settings.md have all of them"
	}
	return e
}

// locate returns the line and the column (in characters) of an offset, both from 1.
func locate(data []byte, offset int) (line, column int) {
	before := data[:min(max(offset, 0), len(data))]
	line = bytes.Count(before, []byte{'\n'}) + 1
	column = utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return line, column
}

// Nearest returns the candidate with the least distance to word, or "" if none is near enough to be
// a typing error. Dotted keys also compare by their last name alone, since a key at the wrong
// depth is the most common one.
func Nearest(word string, candidates []string) string {
	word = strings.ToLower(word)
	best, least := "", 2+len(word)/4
	for _, candidate := range candidates {
		lower := strings.ToLower(candidate)
		distance := levenshtein(word, lower)
		if lastName(word) == lastName(lower) {
			distance = min(distance, 1)
		}
		if distance < least {
			best, least = candidate, distance
		}
	}
	return best
}

func lastName(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// levenshtein counts the bytes to insert, delete or replace to make a into b.
func levenshtein(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
