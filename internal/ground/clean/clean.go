// Package clean makes foreign text safe to show: without commands to a terminal, control characters
// and marks that reorder a line.
package clean

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns foreign text for one line: without escape sequences, with newlines and tabs as
// blanks and other control characters made visible.
func Line(s string) string {
	text := Text(s)
	if strings.ContainsAny(text, "\n\t") {
		text = strings.NewReplacer("\n", " ", "\t", " ").Replace(text)
	}
	return text
}

// Text returns a complete foreign text with its newlines and tabs, and otherwise as [Line] does.
func Text(s string) string {
	if IsPlain(s) {
		return s
	}
	var c Cleaner
	return string(c.Append(nil, []byte(s)))
}

// IsPlain reports whether s is printable ASCII, as most names and paths are.
func IsPlain(s string) bool {
	for i := range len(s) {
		if s[i]-0x20 >= 0x5F {
			return false
		}
	}
	return true
}

// Cleaner makes foreign text safe to print. It keeps its place between two pieces of one stream, so
// that a sequence that is cut in two is still one. Of the control characters it keeps only newlines
// and tabs. The zero Cleaner is at the beginning of a stream.
type Cleaner struct {
	state   cleanState
	swallow int  // bytes of the present sequence
	marks   int  // combining characters since the one that they join
	cr      bool // after a carriage return: what follows decides what it becomes
}

type cleanState uint8

const (
	ground  cleanState = iota
	escaped            // ESC was read
	control            // within a control sequence, ESC [
	command            // within a command string, ESC ] and its like
	leaving            // ESC within a command string, which ends it
)

// The longest sequences. A longer one is shown as text.
const (
	controlMost = 64
	commandMost = 4096
)

// marksMost is how many combining characters may join one character. No language has so many, and
// more of them are drawn over the lines above and below.
const marksMost = 8

const replacement = "\uFFFD"

// Append adds the clean text of src to dst.
func (c *Cleaner) Append(dst, src []byte) []byte {
	for len(src) > 0 {
		if c.state == ground && !c.cr {
			n := plainPrefix(src)
			if dst = append(dst, src[:n]...); n > 0 {
				c.marks = 0
			}
			if src = src[n:]; len(src) == 0 {
				return dst
			}
		}
		r, n := utf8.DecodeRune(src)
		dst = c.rune(dst, r, n)
		src = src[n:]
	}
	return dst
}

// plainPrefix returns the length of the prefix that is clean already: printable ASCII, newlines and
// tabs.
func plainPrefix(b []byte) int {
	for i, c := range b {
		if c-0x20 >= 0x5F && c != '\n' && c != '\t' {
			return i
		}
	}
	return len(b)
}

func (c *Cleaner) rune(dst []byte, r rune, n int) []byte {
	if c.cr {
		c.cr = false
		dst = append(dst, '\n')
		if r == '\n' {
			return dst
		}
	}
	c.swallow += n
	switch c.state {
	case escaped:
		switch {
		case r == '[':
			c.state = control
			return dst
		case r == ']' || r == 'P' || r == 'X' || r == '^' || r == '_':
			c.state = command
			return dst
		case 0x20 <= r && r < 0x30 && c.swallow < controlMost:
			return dst
		case 0x30 <= r && r < 0x7F:
			c.state = ground
			return dst
		}
		dst = append(dst, "␛"...)
	case control:
		switch {
		case 0x20 <= r && r < 0x40 && c.swallow < controlMost:
			return dst
		case 0x40 <= r && r < 0x7F:
			c.state = ground
			return dst
		}
	case command:
		switch {
		case r == 0x1B:
			c.state = leaving
			return dst
		case r == 0x07 || r == 0x9C:
			c.state = ground
			return dst
		case r != '\n' && c.swallow < commandMost:
			return dst
		}
	case leaving:
		c.state, c.swallow = escaped, n
		if r == '\\' {
			c.state = ground
			return dst
		}
		return c.rune(dst, r, n)
	}
	c.state = ground
	return c.ground(dst, r, n)
}

func (c *Cleaner) ground(dst []byte, r rune, n int) []byte {
	switch {
	case r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Me):
		if c.marks++; c.marks > marksMost {
			return dst
		}
		return utf8.AppendRune(dst, r)
	}
	c.marks = 0
	switch {
	case r == '\n' || r == '\t':
		return append(dst, byte(r))
	case r == '\r':
		c.cr = true
		return dst
	case r == 0x1B:
		c.state, c.swallow = escaped, 0
		return dst
	case r == 0x9B:
		c.state, c.swallow = control, 0
		return dst
	case r == 0x90 || r == 0x98 || 0x9D <= r && r <= 0x9F:
		c.state, c.swallow = command, 0
		return dst
	case r < 0x20:
		return utf8.AppendRune(dst, 0x2400+r)
	case r == 0x7F:
		return append(dst, "␡"...)
	case r == 0x2028 || r == 0x2029:
		return append(dst, '\n')
	case r == 0xFEFF: // a byte order mark, which has no shape
		return dst
	case 0x80 <= r && r < 0xA0, unicode.Is(unicode.Bidi_Control, r), 0xE0000 <= r && r <= 0xE007F, r == utf8.RuneError:
		// C1 controls, the marks that reorder a line, and letters that have no shape.
		return append(dst, replacement...)
	}
	return utf8.AppendRune(dst, r)
}

// Reset ends a stream. An unfinished sequence is dropped.
func (c *Cleaner) Reset() { *c = Cleaner{} }
