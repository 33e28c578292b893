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
		if text[i] >= 0x80 {
			if n := copySequences(out[j:], text[i:]); n > 0 {
				i, j = i+n, j+n
				continue
			}
		}
		const longest = len(`\u0000`)
		if need := j + longest + len(text) - i; need > len(out) {
			out = slices.Grow(out[:j], need-j)
			out = out[:cap(out)]
		}
		j += putEscaped(out[j:j+longest], text[i])
		i++
	}
	out[j] = '"'
	return out[:j+1]
}

// copySequences copies the UTF-8 sequences of two bytes or more that src begins with to dst, which is no shorter, and returns their length. It stops at the
// first byte that belongs to none. As above, words are stored whole: a call of copy for three bytes takes longer than all the rest.
func copySequences(dst, src []byte) int {
	i := 0
	for i+8 <= len(src) && src[i] >= 0x80 {
		w := load(src, i)
		binary.LittleEndian.PutUint64(dst[i:i+8], w)
		n := shortSequence(uint32(w))
		if n == 0 {
			if n = anySequence(src[i:]); n == 0 {
				return i
			}
		}
		i += n
	}
	for i < len(src) && src[i] >= 0x80 {
		n := anySequence(src[i:])
		if n == 0 {
			return i
		}
		i += copy(dst[i:], src[i:i+n])
	}
	return i
}

// putEscaped writes the form in which a byte that cannot stand in a JSON string can, and returns its length.
func putEscaped(dst []byte, c byte) int {
	if e := shortEscapes[c]; e != 0 {
		dst[0], dst[1] = '\\', e
		return 2
	}
	if c >= 0x80 {
		return utf8.EncodeRune(dst, utf8.RuneError)
	}
	const digits = "0123456789abcdef"
	return copy(dst, []byte{'\\', 'u', '0', '0', digits[c>>4], digits[c&15]})
}

// shortEscapes holds the letter of the escapes that have one.
var shortEscapes = [256]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}
