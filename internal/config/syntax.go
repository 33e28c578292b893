package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
	switch here := data[at]; {
	case int(syntax.Offset) >= len(data) && syntax.Error() == "unexpected end of JSON input":
		return &Error{Problem: "the text ends too early", advice: "a closing brace, bracket or quote is missing"}, len(data)
	case last == ',' && (here == '}' || here == ']'):
		return &Error{
			Problem: fmt.Sprintf("trailing comma before %q", string(here)),
			advice:  "JSON has no comma after the last entry: remove it",
		}, len(before) - 1
	case here == '/' || here == '#':
		return &Error{Problem: fmt.Sprintf("unexpected %q", string(here)), advice: "JSON has no comments"}, at
	case here == '\'':
		return &Error{Problem: "unexpected single quote", advice: "JSON strings take double quotes"}, at
	case here == '\n' || here == '\r':
		return &Error{Problem: "a string does not end on its line", advice: "a closing quote is missing, or write \\n for a line break"}, at
	case endsValue(last) && beginsValue(here):
		r, _ := utf8.DecodeRune(data[at:])
		return &Error{Problem: fmt.Sprintf("unexpected %q", string(r)), advice: "a comma or colon is missing before it"}, at
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
