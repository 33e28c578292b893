package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// checkSyntax returns nil for one JSON value in UTF-8, else the error and the offset it belongs to.
func checkSyntax(data []byte) (*Error, int) {
	if len(bytes.TrimSpace(data)) == 0 {
		return &Error{Problem: "no JSON value here", advice: "write {} for no settings"}, 0
	}
	if !utf8.Valid(data) {
		return &Error{Problem: "not UTF-8 text"}, firstInvalid(data)
	}
	var value json.RawMessage
	err := json.Unmarshal(data, &value)
	if err == nil {
		return nil, 0
	}
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return &Error{Problem: err.Error()}, 0
	}
	return explain(data, min(max(int(syntax.Offset)-1, 0), len(data)-1), syntax)
}

// explain words a syntax error for the slips people make in hand-written JSON. at is the offset of the first byte that
// cannot stand where it stands.
func explain(data []byte, at int, syntax *json.SyntaxError) (*Error, int) {
	before := bytes.TrimRight(data[:at], " \t\r\n")
	last := byte(0)
	if len(before) > 0 {
		last = before[len(before)-1]
	}
	here, _ := utf8.DecodeRune(data[at:])
	unexpected := func(advice string) (*Error, int) {
		return &Error{Problem: fmt.Sprintf("unexpected %q", here), advice: advice}, at
	}
	switch {
	case int(syntax.Offset) >= len(data) && syntax.Error() == "unexpected end of JSON input":
		return &Error{Problem: "the text ends too early", advice: "a closing brace, bracket or quote is missing"}, len(bytes.TrimRight(data, " \t\r\n"))
	case last == ',' && (here == '}' || here == ']'):
		return &Error{
			Problem: fmt.Sprintf("trailing comma before %q", here),
			advice:  "JSON has no comma after the last entry: remove it",
		}, len(before) - 1
	case json.Valid(before):
		return unexpected("the settings end before it: one object is all a file may hold")
	case here == '\n' || here == '\r':
		return &Error{Problem: "a string does not end on its line", advice: "a closing quote is missing, or write \\n for a line break"}, at
	case here == '/' || here == '#':
		return unexpected("JSON has no comments")
	case endsValue(last) && beginsValue(data[at]):
		return unexpected("a comma or colon is missing before it")
	case here == '\'' || unicode.IsLetter(here):
		return unexpected("names and strings stand in double quotes")
	}
	return &Error{Problem: syntax.Error()}, at
}

func endsValue(c byte) bool {
	return c == '"' || c == '}' || c == ']' || c >= '0' && c <= '9' || c == 'e' || c == 'l'
}

func beginsValue(c byte) bool {
	return c == '"' || c == '{' || c == '[' || c == '-' || c >= '0' && c <= '9' || c == 't' || c == 'f' || c == 'n'
}

func firstInvalid(data []byte) int {
	for at := 0; at < len(data); {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return len(data)
}
