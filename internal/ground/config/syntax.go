package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// checkSyntax returns nil for one JSON value in UTF-8.
func checkSyntax(data []byte) *Error {
	if len(bytes.TrimSpace(data)) == 0 {
		return &Error{Problem: "no JSON value here", advice: "write {} for no settings"}
	}
	if !utf8.Valid(data) {
		return &Error{Problem: "not UTF-8 text", at: firstInvalid(data)}
	}
	var value json.RawMessage
	err := json.Unmarshal(data, &value)
	if err == nil {
		return nil
	}
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return &Error{Problem: err.Error()}
	}
	return explain(data, min(max(int(syntax.Offset)-1, 0), len(data)-1), syntax)
}

// explain words a syntax error for the mistakes people make in hand-written JSON. at is the offset
// of the first byte that is wrong.
func explain(data []byte, at int, syntax *json.SyntaxError) *Error {
	before := bytes.TrimRight(data[:at], " \t\r\n")
	last := byte(0)
	if len(before) > 0 {
		last = before[len(before)-1]
	}
	here, _ := utf8.DecodeRune(data[at:])
	e := &Error{Problem: fmt.Sprintf("unexpected %q", here), at: at}
	switch {
	case int(syntax.Offset) >= len(data) && syntax.Error() == "unexpected end of JSON input":
		e.Problem, e.advice, e.at = "the text ends too early", "a closing brace, bracket or quote is missing", len(bytes.TrimRight(data, " \t\r\n"))
	case last == ',' && (here == '}' || here == ']'):
		e.Problem, e.advice, e.at = fmt.Sprintf("trailing comma before %q", here), "JSON has no comma after the last entry: remove it", len(before)-1
	case json.Valid(before):
		e.advice = "the settings end before it: one object is all a file may hold"
	case here == '\n' || here == '\r':
		e.Problem, e.advice = "a string does not end on its line", "a closing quote is missing, or write \\n for a line break"
	case here == '/' || here == '#':
		e.advice = "JSON has no comments"
	case strings.IndexByte(`"}]el0123456789`, last) >= 0 && strings.IndexByte(`"{[-tfn0123456789`, data[at]) >= 0:
		e.advice = "a comma or colon is missing before it"
	case here == '\'' || unicode.IsLetter(here):
		e.advice = "names and strings need double quotes"
	default:
		e.Problem = syntax.Error()
	}
	return e
}

func firstInvalid(data []byte) int {
	for at, r := range string(data) {
		if r == utf8.RuneError && !bytes.HasPrefix(data[at:], []byte(string(utf8.RuneError))) {
			return at
		}
	}
	return len(data)
}
