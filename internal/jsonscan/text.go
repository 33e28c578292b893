package jsonscan

import (
	"encoding/binary"
	"unicode/utf8"
)

// checkText checks the string whose opening quote stands before b[i] and returns the index after its closing quote, or that of the
// offending byte.
func checkText(b []byte, i int) (int, fault) {
	for {
		for i+8 <= len(b) {
			m := unplain(load(b, i))
			if m != 0 {
				i += firstLane(m)
				goto stop
			}
			i += 8
		}
		for i < len(b) && plain(b[i]) {
			i++
		}
		if i >= len(b) {
			return i, truncated
		}
	stop:
		switch c := b[i]; {
		case c == '"':
			return i + 1, sound
		case c == '\\':
			if i = passEscapes(b, i); i >= len(b) || b[i] != '\\' {
				continue
			}
			n, f := checkEscape(b, i)
			if f != sound {
				return i + n, f
			}
			i += n
		case c < 0x20:
			return i, control
		default:
			// Scripts other than Latin come in runs, so one sequence is likely followed by another.
			for i < len(b) && b[i] >= 0x80 {
				n := sequence(b, i)
				if n == 0 {
					return i, notUTF8
				}
				i += n
			}
		}
	}
}

// passEscapes goes on from the escape at b[i] over text and the escapes that nearly all texts make do with: \n, \t, \" and \\. It returns the
// index of the first byte that needs a closer look, which is that of the backslash where it is an escape.
//
// In programme text an escape stands every sixteenth byte or so. Stopping at each is a jump the processor guesses wrongly, and the profile
// showed little else: without this loop, which does three times the work on each word and never stops for such an escape, Go's own source
// passes at little more than half the speed.
func passEscapes(b []byte, i int) int {
	escaped := uint64(0) // lanes whose byte has a backslash before it
	for i+8 <= len(b) {
		w := load(b, i)
		low := w &^ highs
		quote, slash := equal(low, '"'), equal(low, '\\')
		known := quote | slash | equal(low, 'n') | equal(low, 't')
		escaped |= slash << 8
		m := (quote&^escaped | slash&escaped | escaped&^known | (0x9f*ones - low) | w) & highs
		if m != 0 {
			k := firstLane(m)
			i += k
			return i - int(escaped>>(8*k+7)&1)
		}
		escaped = slash >> 56
		i += 8
	}
	return i - int(escaped>>7&1)
}

func plain(c byte) bool { return c >= 0x20 && c < 0x80 && c != '"' && c != '\\' }

// escapes holds, for the byte after a backslash, what it stands for; 0 where it stands for nothing. 'u' is a case of its own.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// checkEscape returns the length of the escape at b[i], or how far into it the fault is.
func checkEscape(b []byte, i int) (int, fault) {
	if i+1 >= len(b) {
		return 1, truncated
	}
	if escapes[b[i+1]] != 0 {
		return 2, sound
	}
	if b[i+1] != 'u' {
		return 1, badEscape
	}
	for k := 2; k < 6; k++ {
		if i+k >= len(b) {
			return k, truncated
		}
		if hex[b[i+k]] > 15 {
			return k, badEscape
		}
	}
	return 6, sound
}

// hex holds the value of a hexadecimal digit, 0xff for all other bytes.
var hex = func() (t [256]byte) {
	for c := range t {
		t[c] = 0xff
	}
	for k := range byte(10) {
		t['0'+k] = k
	}
	for k := range byte(6) {
		t['a'+k], t['A'+k] = 10+k, 10+k
	}
	return t
}()

// sequence returns the length of the UTF-8 sequence of two to four bytes at b[i], 0 if it is none: not continued, longer than need be, a surrogate,
// beyond U+10FFFF. The two lengths that nearly all text consists of are taken from a word at once, in a function small enough to be inlined.
func sequence(b []byte, i int) int {
	if i+4 <= len(b) {
		if n := shortSequence(binary.LittleEndian.Uint32(b[i:])); n != 0 {
			return n
		}
	}
	return anySequence(b[i:])
}

// shortSequence returns the length of the sequence of two or three bytes that w begins with, 0 if it is none.
func shortSequence(w uint32) int {
	// In the low two bytes of a sequence of three, 0x200f covers the leading five bits of its code point: all zero would fit into
	// two bytes, 0x200d is D800–DFFF.
	if head := w & 0x200f; w&0xc0c0f0 == 0x8080e0 && head != 0 && head != 0x200d {
		return 3
	}
	if w&0xc0e0 == 0x80c0 && w&0x1e != 0 {
		return 2
	}
	return 0
}

func anySequence(b []byte) int {
	if r, n := utf8.DecodeRune(b); r != utf8.RuneError || n == 3 {
		return n
	}
	return 0
}
