package event

import "github.com/ralph-loop/ralph/internal/ground/jsonscan"

// Text is a string in its JSON encoding, quotes included. Most text in a journal is copied from a
// line of an agent into an event and never read; a Text is neither unescaped nor escaped again on
// the way. The zero Text is the empty string.
//
// A Text made by [Quoted] or read from an [Event] shares the memory of the line that it came from.
type Text []byte

// Plain returns the Text of s. Bytes that are not UTF-8 become U+FFFD.
func Plain(s string) Text { return jsonscan.AppendString(nil, s) }

// Quoted returns the Text of a JSON string value, which must be valid.
func Quoted(value []byte) Text { return Text(value) }

// String returns the text itself.
func (t Text) String() string {
	if len(t) == 0 {
		return ""
	}
	return jsonscan.Unquote(t)
}

// AppendTo appends the text itself to dst.
func (t Text) AppendTo(dst []byte) []byte {
	if len(t) == 0 {
		return dst
	}
	return jsonscan.AppendUnquoted(dst, t)
}

// IsZero reports whether t is the empty string.
func (t Text) IsZero() bool { return len(t) <= len(`""`) }

// MarshalJSON returns t unchanged.
func (t Text) MarshalJSON() ([]byte, error) {
	if len(t) == 0 {
		return []byte(`""`), nil
	}
	return t, nil
}

// UnmarshalJSON keeps a copy of a string value and treats null as the empty string.
func (t *Text) UnmarshalJSON(value []byte) error {
	if string(value) == "null" {
		*t = nil
		return nil
	}
	if len(value) == 0 || value[0] != '"' {
		return &DecodeError{Problem: "text is not a string"}
	}
	*t = append((*t)[:0], value...)
	return nil
}
