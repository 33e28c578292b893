package jsonscan

import (
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// MaxDepth is how many arrays and objects may be open at once. It equals the limit of
// encoding/json, so that what passes here can be decoded there.
const MaxDepth = 10000

// ErrInvalid is the error of [Document.Read].
var ErrInvalid = errors.New("not valid JSON, or too many values")

// Valid reports whether b is one JSON value as RFC 8259 defines it, with nothing but whitespace
// around it and all strings in valid UTF-8.
func Valid(b []byte) bool { return json.Valid(b) && utf8.Valid(b) }

// invalid is what the functions below return in place of an index. They check the piece that begins
// at b[i] and return the index after it. json.Valid does the same at a fourth of the speed, and
// would leave no note of where the values are.
const invalid = -1

func checkWord(b []byte, i int, word string) int {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return invalid
	}
	return i + len(word)
}

// checkNumber checks a sign, an integer without leading zeros, a fraction and an exponent.
func checkNumber(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if i = checkDigits(b, i); i == invalid {
		return invalid
	}
	if i < len(b) && b[i] == '.' {
		if i = checkDigits(b, i+1); i == invalid {
			return invalid
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return checkDigits(b, i)
	}
	return i
}

// checkDigits checks one digit or more.
func checkDigits(b []byte, i int) int {
	start := i
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	if i == start {
		return invalid
	}
	return i
}

// checkText checks a string whose opening quote is before b[i].
func checkText(b []byte, i int) int {
	for {
		i = plainEnd(b, i)
		if i >= len(b) {
			return invalid
		}
		var n int
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c == '\\':
			_, n = unescape(b[i:])
		case c < 0x20:
			n = 0
		default:
			var r rune
			if r, n = utf8.DecodeRune(b[i:]); r == utf8.RuneError && n == 1 {
				n = 0
			}
		}
		if n == 0 {
			return invalid
		}
		i += n
	}
}

// plainEnd returns the index of the first byte from i on that a JSON string cannot simply contain:
// a quote, a backslash, a control character, or a byte outside of ASCII, whose UTF-8 must be
// checked.
func plainEnd(b []byte, i int) int {
	for i < len(b) && plain[b[i]] {
		i++
	}
	return i
}

// plain holds the bytes that a JSON string simply contains.
var plain = func() (set [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		set[c] = c != '"' && c != '\\'
	}
	return set
}()

// skipSpace returns the index of the first byte from i on that is not JSON whitespace.
func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}
