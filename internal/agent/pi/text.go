package pi

import (
	"bytes"
	"hash/maphash"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/jsonscan"
)

// Texts are compared, cut and joined as JSON spells them, without their quotes
// ("inner" below), so that nothing is unescaped and escaped again. pi writes each
// text with the same escapes whenever it repeats it, but for one thing: where a
// part ends between the two halves of a surrogate pair, each half stands as
// \uXXXX, and the whole has the character itself.

var seed = maphash.MakeSeed()

// prefix remembers a text so that a longer one can be told to begin with it:
// its length and hash.
type prefix struct {
	size int
	hash maphash.Hash
}

func (p *prefix) reset() {
	p.size = 0
	p.hash.SetSeed(seed)
}

func (p *prefix) grow(inner []byte) {
	p.size += len(inner)
	p.hash.Write(inner)
}

// of reports whether inner begins with the remembered text.
func (p *prefix) of(inner []byte) bool {
	return len(inner) >= p.size && maphash.Bytes(seed, inner[:p.size]) == p.hash.Sum64()
}

// inner returns a string value without its quotes, nothing where there is none.
func inner(value []byte) []byte {
	if len(value) < 2 {
		return nil
	}
	return value[1 : len(value)-1]
}

// number returns a whole number, also where it is written with a fraction.
func number(value jsonscan.Value) int64 {
	if n, ok := value.Int(); ok {
		return n
	}
	f, ok := value.Float()
	if !ok || f < -1<<53 || f > 1<<53 {
		return 0
	}
	return int64(f)
}

// quote joins parts of a text to a string value in the scratch memory.
func (d *Dialect) quote(parts ...[]byte) []byte {
	start := len(d.scratch)
	d.scratch = append(d.scratch, '"')
	for _, part := range parts {
		d.scratch = append(d.scratch, part...)
	}
	d.scratch = append(d.scratch, '"')
	return d.scratch[start:len(d.scratch):len(d.scratch)]
}

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

func hex(digits []byte) (n rune) {
	for _, c := range digits {
		switch {
		case c <= '9':
			n = n<<4 | rune(c-'0')
		default:
			n = n<<4 | rune(c|0x20-'a'+10)
		}
	}
	return n
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
	r := utf16.DecodeRune(hex(carried[2:]), hex(inner[2:escapeLen]))
	return utf8.AppendRune(nil, r), inner[escapeLen:], true
}

// maxSeams is how many places are tried for a seam, since a text that repeats
// itself may look like one everywhere.
const maxSeams = 32

// seam returns where in now the text goes on that ended with before: pi shows
// the last part of a long output, so its beginning is lost bit by bit.
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
		if bytes.HasPrefix(now, before[from:]) && !midEscape(before, from) {
			return len(before) - from, true
		}
		from++
	}
	return 0, false
}

// midEscape reports whether an escape sequence reaches over at.
func midEscape(inner []byte, at int) bool {
	if escaped(inner, at) {
		return true
	}
	for back := 2; back < escapeLen && back <= at; back++ { // within the digits of \uXXXX
		if inner[at-back] == '\\' && inner[at-back+1] == 'u' && !escaped(inner, at-back) {
			return true
		}
	}
	return false
}
