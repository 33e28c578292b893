package jsonscan

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// AppendUnquoted appends the text of a string value, given with its quotes, to dst, which must not overlap it. Escaped surrogates become the character
// they form, U+FFFD where one is alone. What is no string appends nothing.
func AppendUnquoted(dst, value []byte) []byte {
	return appendUnescaped(dst, inner(value))
}

// Unquote returns the text of a string value, given with its quotes, as a new string; "" for what is no string.
func Unquote(value []byte) string {
	raw := inner(value)
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	text := appendUnescaped(nil, raw)
	return unsafe.String(unsafe.SliceData(text), len(text)) // nobody else holds text, so it will not change
}

// EqualString reports whether value is a string whose text is s.
func EqualString(value []byte, s string) bool {
	return IsString(value) && EqualKey(inner(value), s)
}

// EqualKey reports whether the text of key, a string without its quotes as [Member] and [ObjectCursor] hold it, is s.
func EqualKey(key []byte, s string) bool {
	// Escapes only ever shorten, so a key shorter than s is not s, and one of its length is s only without escapes.
	if len(key) < len(s) {
		return false
	}
	if len(key) == len(s) {
		return string(key) == s && bytes.IndexByte(key, '\\') < 0
	}
	// Most longer keys are told by their first byte.
	if s != "" && key[0] != s[0] && key[0] != '\\' || bytes.IndexByte(key, '\\') < 0 {
		return false
	}
	return equalEscaped(key, s)
}

func equalEscaped(key []byte, s string) bool {
	for len(key) > 0 {
		if key[0] != '\\' {
			if s == "" || key[0] != s[0] {
				return false
			}
			key, s = key[1:], s[1:]
			continue
		}
		r, n := unescape(key)
		if n == 0 {
			return false
		}
		var text [utf8.UTFMax]byte
		t := text[:utf8.EncodeRune(text[:], r)]
		if len(s) < len(t) || s[:len(t)] != string(t) {
			return false
		}
		key, s = key[n:], s[len(t):]
	}
	return s == ""
}

// inner returns what stands between the quotes of a string value, nil for what has none.
func inner(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return nil
	}
	return value[1 : len(value)-1]
}

// appendUnescaped appends raw, what stands between the quotes, with its escapes resolved. It ends at a malformed one.
//
// Words are stored whole and the lanes after an escape overwritten later. That is safe because the text is never longer than raw: the room
// of raw's length is taken first, and what has been written is never ahead of what has been read.
func appendUnescaped(dst, raw []byte) []byte {
	dst = slices.Grow(dst, len(raw))
	out := dst[len(dst) : len(dst)+len(raw)]
	i, j := 0, 0
	for i < len(raw) {
		if i+8 <= len(raw) {
			w := load(raw, i)
			binary.LittleEndian.PutUint64(out[j:j+8], w)
			m := backslash(w)
			if m == 0 {
				i, j = i+8, j+8
				continue
			}
			n := firstLane(m)
			i, j = i+n, j+n
		} else if raw[i] != '\\' {
			out[j] = raw[i]
			i, j = i+1, j+1
			continue
		}
		if i+1 < len(raw) && escapes[raw[i+1]] != 0 {
			out[j] = escapes[raw[i+1]]
			i, j = i+2, j+1
			continue
		}
		r, n := unescape(raw[i:])
		if n == 0 {
			break
		}
		i, j = i+n, j+utf8.EncodeRune(out[j:], r)
	}
	return dst[:len(dst)+j]
}

// unescape returns the character of the escape at the start of b and its length, 0 if it is malformed. Two surrogates that form a pair are one escape.
func unescape(b []byte) (rune, int) {
	n, f := checkEscape(b, 0)
	if f != sound {
		return 0, 0
	}
	if n == 2 {
		return rune(escapes[b[1]]), 2
	}
	r := unhex(b[2:6])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(b) > 7 && b[6] == '\\' && b[7] == 'u' {
		if n, f := checkEscape(b[6:], 0); f == sound {
			if pair := utf16.DecodeRune(r, unhex(b[8:6+n])); pair != utf8.RuneError {
				return pair, 12
			}
		}
	}
	return utf8.RuneError, 6
}

func unhex(digits []byte) rune {
	var r rune
	for _, c := range digits {
		r = r<<4 | rune(hex[c])
	}
	return r
}
