package jsonscan

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"
	"unsafe"
)

// AppendString appends s to dst as a JSON string with its quotes. Only what must be escaped is: quote, backslash and bytes below 0x20. Each byte of s that is not
// part of valid UTF-8 becomes U+FFFD, as encoding/json has it; all other text, U+2028 and U+2029 included, stays as it is.
func AppendString(dst []byte, s string) []byte {
	return AppendStringBytes(dst, unsafe.Slice(unsafe.StringData(s), len(s))) // which only reads it
}

// AppendStringBytes is [AppendString] for text held as bytes, which must not overlap the free capacity of dst.
func AppendStringBytes(dst, text []byte) []byte {
	// Words are stored whole and the lanes after the first that needs care overwritten. For that there must always be room for the
	// rest of text and the closing quote, which is taken here for the plain case; whatever grows on the way takes its excess where it arises.
	dst = slices.Grow(dst, len(text)+2)
	dst = append(dst, '"')
	i, j := 0, len(dst)
	out := dst[:cap(dst)]
	for i < len(text) {
		if i+8 <= len(text) {
			w := load(text, i)
			binary.LittleEndian.PutUint64(out[j:j+8], w)
			m := unplain(w)
			if m == 0 {
				i, j = i+8, j+8
				continue
			}
			n := firstLane(m)
			i, j = i+n, j+n
		} else if plain(text[i]) {
			out[j] = text[i]
			i, j = i+1, j+1
			continue
		}
		c := text[i]
		if c >= 0x80 {
			if n := sequence(text, i); n != 0 {
				j += copy(out[j:], text[i:i+n])
				i += n
				continue
			}
		}
		const longest = len(`\u0000`)
		if need := j + longest + len(text) - i; need > len(out) {
			out = slices.Grow(out[:j], need-j)
			out = out[:cap(out)]
		}
		j = len(appendEscaped(out[:j], c))
		i++
	}
	out[j] = '"'
	return out[:j+1]
}

// appendEscaped appends a byte that cannot stand in a JSON string in the form in which it can.
func appendEscaped(dst []byte, c byte) []byte {
	if c >= 0x80 {
		return utf8.AppendRune(dst, utf8.RuneError)
	}
	if e := shortEscapes[c]; e != 0 {
		return append(dst, '\\', e)
	}
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}

// shortEscapes holds the letter of the escapes that have one.
var shortEscapes = [0x80]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}
