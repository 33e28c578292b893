package pi

import (
	"bytes"
	"slices"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
)

// Texts of messages are compared and cut as JSON spells them, without their quotes ("inner" below),
// so that nothing is unescaped and escaped again. pi writes each text with the same escapes
// whenever it repeats it, but for one thing: where a part ends between the two halves of a
// surrogate pair, each half is written as \uXXXX, and the complete text has the character itself.

const escapeLen = len(`\ud83d`)

// highSurrogate returns the first half of a surrogate pair that inner ends with,
// or nil.
func highSurrogate(inner []byte) []byte {
	at := len(inner) - escapeLen
	if at < 0 || !surrogate(inner[at:], '8', 'b') || escaped(inner, at) {
		return nil
	}
	return inner[at:]
}

// surrogate reports whether b begins with \udXyy, X from low to high.
func surrogate(b []byte, low, high byte) bool {
	return len(b) >= escapeLen && b[0] == '\\' && b[1] == 'u' && b[2]|0x20 == 'd' &&
		low <= b[3]|0x20 && b[3]|0x20 <= high && isHex(b[4]) && isHex(b[5])
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

// escaped reports whether the byte at is the one that a backslash escapes.
func escaped(inner []byte, at int) bool {
	n := 0
	for n < at && inner[at-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// pair returns the character that a carried first half and a second half at the
// beginning of inner are, and the rest of inner.
func pair(carried, inner []byte) (char, rest []byte, ok bool) {
	if !surrogate(inner, 'c', 'f') {
		return nil, inner, false
	}
	quoted := slices.Concat([]byte{'"'}, carried, inner[:escapeLen], []byte{'"'})
	return jsonscan.AppendUnquoted(nil, quoted), inner[escapeLen:], true
}

// maxSeams is how many places are tried for a seam, since a text that repeats
// itself may look like one everywhere.
const maxSeams = 32

// seam returns where in now the text continues after the end of before: pi shows the last part of a
// long output, so its beginning is lost bit by bit.
func seam(before, now []byte) (at int, ok bool) {
	const sign = 48 // shorter overlaps are chance
	if len(now) < sign {
		return 0, false
	}
	from := 0
	for range maxSeams {
		i := bytes.Index(before[from:], now[:sign])
		if i < 0 {
			return 0, false
		}
		from += i
		if bytes.HasPrefix(now, before[from:]) {
			return len(before) - from, true
		}
		from++
	}
	return 0, false
}
