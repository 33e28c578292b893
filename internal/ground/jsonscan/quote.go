package jsonscan

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// AppendString appends s to dst as a JSON string with its quotes. Only what must be escaped is:
// quote, backslash and bytes below 0x20. Each byte of s that is not part of valid UTF-8 becomes
// U+FFFD, as in encoding/json; all other text, U+2028 and U+2029 included, stays as it is.
func AppendString(dst []byte, s string) []byte {
	return AppendStringBytes(dst, unsafe.Slice(unsafe.StringData(s), len(s))) // which only reads it
}

// AppendStringBytes is [AppendString] for text held as bytes, which must not overlap the free
// capacity of dst.
func AppendStringBytes(dst, text []byte) []byte {
	dst = append(slices.Grow(dst, len(text)+2), '"')
	done := 0 // text[:done] is appended
	for i := 0; ; {
		i = plainEnd(text, i)
		if i < len(text) && text[i] >= 0x80 {
			if r, n := utf8.DecodeRune(text[i:]); r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
		}
		dst = append(dst, text[done:i]...)
		if i == len(text) {
			return append(dst, '"')
		}
		dst = appendEscaped(dst, text[i])
		i++
		done = i
	}
}

// appendEscaped appends the escape of a byte that a JSON string cannot contain.
func appendEscaped(dst []byte, c byte) []byte {
	if e := shortEscapes[c]; e != 0 {
		return append(dst, '\\', e)
	}
	if c >= 0x80 {
		return utf8.AppendRune(dst, utf8.RuneError)
	}
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}

// shortEscapes holds the letter of the escapes that have one.
var shortEscapes = [256]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}

// escapes holds, for the byte after a backslash, what it means; 0 if nothing. 'u' is a case of its
// own.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// AppendUnquoted appends the text of a string value, given with its quotes, to dst, which must not
// overlap it. Escaped surrogates become the character they form, U+FFFD if one is alone. What is
// no string appends nothing.
func AppendUnquoted(dst, value []byte) []byte {
	return appendUnescaped(dst, inner(value))
}

// Unquote returns the text of a string value, given with its quotes, as a new string; "" for what
// is no string.
func Unquote(value []byte) string {
	raw := inner(value)
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	text := appendUnescaped(nil, raw)
	return unsafe.String(unsafe.SliceData(text), len(text)) // text has no other reference
}

// EqualKey reports whether the text of key, a string without its quotes as [ObjectCursor] and
// [Value.Members] return it, is s.
func EqualKey(key []byte, s string) bool {
	// Escapes only ever shorten, so only a key that is longer than s can be s with escapes.
	if len(key) == len(s) {
		return string(key) == s && bytes.IndexByte(key, '\\') < 0
	}
	return len(key) > len(s) && bytes.IndexByte(key, '\\') >= 0 && string(appendUnescaped(nil, key)) == s
}

// inner returns what is between the quotes of a string value, nil for what has none.
func inner(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return nil
	}
	return value[1 : len(value)-1]
}

// appendUnescaped appends raw, what is between the quotes, with its escapes resolved. It ends at a
// malformed one.
func appendUnescaped(dst, raw []byte) []byte {
	dst = slices.Grow(dst, len(raw))
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i]...)
		r, n := unescape(raw[i:])
		if n == 0 {
			return dst
		}
		dst = utf8.AppendRune(dst, r)
		raw = raw[i+n:]
	}
}

// unescape returns the character of the escape at the start of b and its length, 0 if it is
// malformed. Two surrogates that form a pair are one escape.
func unescape(b []byte) (rune, int) {
	if len(b) > 1 && escapes[b[1]] != 0 {
		return rune(escapes[b[1]]), 2
	}
	r, ok := hexRune(b)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if second, ok := hexRune(b[6:]); ok {
		if pair := utf16.DecodeRune(r, second); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

// hexRune reads the six bytes of an escape such as \u00e9.
func hexRune(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}
