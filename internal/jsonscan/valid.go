package jsonscan

import (
	"errors"
	"fmt"
)

// MaxDepth is how many arrays and objects may be open at once. It equals the limit of encoding/json, so that what passes here can be decoded there.
const MaxDepth = 10000

// SyntaxError says where a document stops being JSON.
type SyntaxError struct {
	Offset int   // of the byte that cannot stand there; the length of the document where it ends too early
	Reason error // one of the Err variables
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("json: offset %d: %v", e.Offset, e.Reason) }
func (e *SyntaxError) Unwrap() error { return e.Reason }

// The reasons of a [SyntaxError], for errors.Is.
var (
	ErrTruncated = errors.New("document ends too early")
	ErrUnwanted  = errors.New("unexpected byte")
	ErrUTF8      = errors.New("string is not UTF-8")
	ErrEscape    = errors.New("unknown escape")
	ErrControl   = errors.New("control byte in string")
	ErrDepth     = errors.New("nested too deeply")
	ErrLong      = errors.New("too long, or too many values") // of a Document only
)

// fault is the reason as the scanners pass it, one byte in a register.
type fault uint8

const (
	sound fault = iota
	truncated
	unwanted
	notUTF8
	badEscape
	control
	tooDeep
	tooLong
)

var reasons = [...]error{truncated: ErrTruncated, unwanted: ErrUnwanted, notUTF8: ErrUTF8, badEscape: ErrEscape, control: ErrControl, tooDeep: ErrDepth, tooLong: ErrLong}

// Valid reports whether b is one JSON value as RFC 8259 defines it, with nothing but whitespace around it and all strings in valid UTF-8.
func Valid(b []byte) bool {
	i, f := checkValue(b, skipSpace(b, 0), 0)
	return f == sound && skipSpace(b, i) == len(b)
}

// checkValue checks the value at b[i] and returns the index after it, or that of the offending byte. outer is the number of containers
// open around it.
//
// It is one loop over a stack of bits, 1 for an object and 0 for an array, in a register. 64 levels fit; a container below them is left to
// a further call with a stack of its own. That keeps hostile nesting from growing the goroutine's stack by more than MaxDepth/64
// frames, and spares every line the clearing of more than a kilobyte of stack for 10,000 levels.
func checkValue(b []byte, i, outer int) (int, fault) {
	var (
		objects uint64
		depth   int
		f       fault
	)
value:
	if i >= len(b) {
		return i, truncated
	}
	switch c := b[i]; c {
	case '"':
		if i, f = checkText(b, i+1); f != sound {
			return i, f
		}
	case '{', '[':
		if depth == 64 {
			if i, f = checkValue(b, i, outer+64); f != sound {
				return i, f
			}
			goto after
		}
		if outer+depth >= MaxDepth {
			return i, tooDeep
		}
		depth++
		objects <<= 1
		i = skipSpace(b, i+1)
		if c == '[' {
			if i < len(b) && b[i] == ']' {
				i++
				goto closed
			}
			goto value
		}
		objects |= 1
		if i < len(b) && b[i] == '}' {
			i++
			goto closed
		}
		goto key
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if i, f = checkNumber(b, i); f != sound {
			return i, f
		}
	case 't':
		if i, f = checkWord(b, i, "true"); f != sound {
			return i, f
		}
	case 'f':
		if i, f = checkWord(b, i, "false"); f != sound {
			return i, f
		}
	case 'n':
		if i, f = checkWord(b, i, "null"); f != sound {
			return i, f
		}
	default:
		return i, unwanted
	}
after:
	if depth == 0 {
		return i, sound
	}
	i = skipSpace(b, i)
	if i >= len(b) {
		return i, truncated
	}
	switch c := b[i]; {
	case c == ',':
		i = skipSpace(b, i+1)
		if objects&1 == 0 {
			goto value
		}
		goto key
	case c == '}' && objects&1 == 1, c == ']' && objects&1 == 0:
		i++
		goto closed
	default:
		return i, unwanted
	}
closed:
	depth--
	objects >>= 1
	goto after
key:
	if end := plainKey(b, i); end > 0 {
		i = skipSpace(b, end+2)
		goto value
	}
	if _, i, f = checkKey(b, i); f != sound {
		return i, f
	}
	i = skipSpace(b, i+1)
	goto value
}

// checkKey checks a member's key at b[i] and returns the indices after it and of the colon. That of an offending byte is returned as the colon's.
func checkKey(b []byte, i int) (end, colon int, f fault) {
	if i >= len(b) {
		return i, i, truncated
	}
	if b[i] != '"' {
		return i, i, unwanted
	}
	if end, f = checkText(b, i+1); f != sound {
		return end, end, f
	}
	colon = skipSpace(b, end)
	if colon >= len(b) {
		return end, colon, truncated
	}
	if b[colon] != ':' {
		return end, colon, unwanted
	}
	return end, colon, sound
}

// plainKey returns the index of the closing quote of the key at b[i] if it is plain ASCII without an escape and has the colon right behind it, as nearly all
// have; else, and near the end of b, 0: then checkKey has to look.
func plainKey(b []byte, i int) int {
	if i < len(b) && b[i] == '"' {
		for i++; i+9 < len(b); i += 8 {
			if m := unplain(load(b, i)); m != 0 {
				if i += firstLane(m); b[i] == '"' && b[i+1] == ':' {
					return i
				}
				return 0
			}
		}
	}
	return 0
}

func checkWord(b []byte, i int, word string) (int, fault) {
	for k := range len(word) {
		if i+k >= len(b) {
			return i + k, truncated
		}
		if b[i+k] != word[k] {
			return i + k, unwanted
		}
	}
	return i + len(word), sound
}

// checkNumber checks the number at b[i], which must exist: a sign, an integer without leading zeros, a fraction, an exponent.
func checkNumber(b []byte, i int) (int, fault) {
	if b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else {
		var f fault
		if i, f = checkDigits(b, i); f != sound {
			return i, f
		}
	}
	if i < len(b) && b[i] == '.' {
		var f fault
		if i, f = checkDigits(b, i+1); f != sound {
			return i, f
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return checkDigits(b, i)
	}
	return i, sound
}

// checkDigits passes over one digit or more.
func checkDigits(b []byte, i int) (int, fault) {
	start := i
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	switch {
	case i > start:
		return i, sound
	case i >= len(b):
		return i, truncated
	}
	return i, unwanted
}

// skipSpace returns the index of the first byte from i on that is not JSON whitespace. Agents print compact lines, so the usual
// answer is i itself, and the first comparison is all of it that inlines.
func skipSpace(b []byte, i int) int {
	if i < len(b) && b[i] <= ' ' {
		return skipSpaces(b, i)
	}
	return i
}

func skipSpaces(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}
