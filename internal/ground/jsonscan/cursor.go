package jsonscan

import "bytes"

// ObjectCursor walks over the members of an object that is known to be valid. The zero value has
// none.
type ObjectCursor struct {
	b []byte
	i int // after the opening brace or the last value
}

// Object returns a cursor before the first member of value. A value that is no object has no
// members.
func Object(value []byte) ObjectCursor {
	i := skipSpace(value, 0)
	if i >= len(value) || value[i] != '{' {
		return ObjectCursor{}
	}
	return ObjectCursor{b: value, i: i + 1}
}

// Next returns the next member, or false after the last: the key without its quotes, escapes still
// in place (see [EqualKey]), and the value without whitespace around it. Both are parts of the
// value the cursor was made from.
func (c *ObjectCursor) Next() (key, value []byte, ok bool) {
	key, v := nextMember(c.b, c.i)
	if end := skipValue(c.b, v); end > v {
		c.i = end
		return key, c.b[v:end:end], true
	}
	*c = ObjectCursor{}
	return nil, nil, false
}

// Get follows path from member to member through nested objects and returns the value at its end,
// nil where there is none. Of members with the same key it takes the first, and looks no further.
// An empty path leads to value itself.
func Get(value []byte, path ...string) []byte {
	v := skipSpace(value, 0)
	for _, name := range path {
		if v >= len(value) || value[v] != '{' {
			return nil
		}
		// An object on the way is entered where it begins. Where it ends does not matter, and
		// finding out would be most of the work.
		var key []byte
		for key, v = nextMember(value, v+1); v < len(value) && !EqualKey(key, name); {
			key, v = nextMember(value, skipValue(value, v))
		}
	}
	end := skipValue(value, v)
	if end == v {
		return nil
	}
	return value[v:end:end]
}

// nextMember returns the key of the next member and the index of its value, len(b) if there is
// none. Here i is after the opening brace or after the last value.
func nextMember(b []byte, i int) (key []byte, v int) {
	i = nextItem(b, i)
	if i >= len(b) || b[i] != '"' {
		return nil, len(b)
	}
	end := skipText(b, i+1)
	last := max(end-1, i+1) // an unterminated string has no closing quote to leave out
	key = b[i+1 : last : last]
	if i = skipSpace(b, end); i >= len(b) || b[i] != ':' {
		return nil, len(b)
	}
	return key, skipSpace(b, i+1)
}

// Len returns the length of the value that data begins with, whatever follows it; leading
// whitespace counts. It is 0 if no value begins.
func Len(data []byte) int {
	from := skipSpace(data, 0)
	if end := skipValue(data, from); end > from {
		return end
	}
	return 0
}

// nextItem passes over the comma before the next item, if there is one, and the whitespace around
// it.
func nextItem(b []byte, i int) int {
	i = skipSpace(b, i)
	if i < len(b) && b[i] == ',' {
		i = skipSpace(b, i+1)
	}
	return i
}

// skipValue returns the index after the value at b[i], or i where none can begin. Unterminated
// values end with b.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return i
	}
	switch b[i] {
	case '"':
		return skipText(b, i+1)
	case '{', '[':
		return skipContainer(b, i)
	}
	for i < len(b) && !ends[b[i]] {
		i++
	}
	return i
}

// ends holds the bytes after which a number or a word is over.
var ends = [256]bool{' ': true, '\t': true, '\n': true, '\r': true, ',': true, ':': true, ']': true, '}': true, '[': true, '{': true, '"': true}

// skipText returns the index after the closing quote of the string whose opening quote is before
// b[i], or len(b).
func skipText(b []byte, i int) int {
	for start := i; ; i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		i += n
		slashes := i
		for slashes > start && b[slashes-1] == '\\' {
			slashes--
		}
		if (i-slashes)%2 == 0 {
			return i + 1
		}
	}
}

// skipContainer returns the index after the container that opens at b[i], or len(b). Braces and
// brackets are not distinguished: in a valid value they match.
func skipContainer(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipText(b, i+1)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(b)
}
