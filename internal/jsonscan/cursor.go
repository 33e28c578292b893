package jsonscan

// ObjectCursor walks over the members of an object that is known to be valid. The zero value has none.
type ObjectCursor struct {
	b []byte
	i int // after the opening brace or the last value
}

// Object returns a cursor before the first member of value. A value that is no object has no members.
func Object(value []byte) ObjectCursor {
	i := skipSpace(value, 0)
	if i >= len(value) || value[i] != '{' {
		return ObjectCursor{}
	}
	return ObjectCursor{b: value, i: i + 1}
}

// Next returns the next member, or false after the last: the key without its quotes, escapes still in place (see [EqualKey]), and the value without
// whitespace around it. Both are parts of the value the cursor was made from.
func (c *ObjectCursor) Next() (key, value []byte, ok bool) {
	b := c.b
	i := nextItem(b, c.i)
	if i < len(b) && b[i] == '"' {
		k := i + 1
		end := skipText(b, k)
		i = skipSpace(b, end)
		if i < len(b) && b[i] == ':' {
			v := skipSpace(b, i+1)
			if i = skipValue(b, v); i > v {
				c.i = i
				return b[k : end-1 : end-1], b[v:i:i], true
			}
		}
	}
	*c = ObjectCursor{}
	return nil, nil, false
}

// ArrayCursor walks over the elements of an array that is known to be valid. The zero value has none.
type ArrayCursor struct {
	b []byte
	i int // after the opening bracket or the last value
}

// Array returns a cursor before the first element of value. A value that is no array has no elements.
func Array(value []byte) ArrayCursor {
	i := skipSpace(value, 0)
	if i >= len(value) || value[i] != '[' {
		return ArrayCursor{}
	}
	return ArrayCursor{b: value, i: i + 1}
}

// Next returns the next element without whitespace around it, a part of the value the cursor was made from, or false after the last.
func (c *ArrayCursor) Next() (value []byte, ok bool) {
	b := c.b
	v := nextItem(b, c.i)
	if i := skipValue(b, v); i > v {
		c.i = i
		return b[v:i:i], true
	}
	*c = ArrayCursor{}
	return nil, false
}

// Get follows path from member to member through nested objects and returns the value at its end, nil where there is none. Of members with the same key it takes
// the first, and looks no further. An empty path is value itself.
func Get(value []byte, path ...string) []byte {
	for _, name := range path {
		members := Object(value)
		for {
			key, v, ok := members.Next()
			if !ok {
				return nil
			}
			if EqualKey(key, name) {
				value = v
				break
			}
		}
	}
	return value
}

// Len returns the length of the value that data begins with, whatever follows it; leading whitespace counts. It is 0 where no value begins.
func Len(data []byte) int {
	from := skipSpace(data, 0)
	if end := skipValue(data, from); end > from {
		return end
	}
	return 0
}

// nextItem passes over the comma before the next item, if there is one, and the whitespace around it.
func nextItem(b []byte, i int) int {
	i = skipSpace(b, i)
	if i < len(b) && b[i] == ',' {
		i = skipSpace(b, i+1)
	}
	return i
}

// skipValue returns the index after the value at b[i], or i where none can begin. Unterminated values end with b.
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

// skipText returns the index after the closing quote of the string whose opening quote stands before b[i], or len(b).
func skipText(b []byte, i int) int {
	for i+8 <= len(b) {
		m := quoteOrBackslash(load(b, i))
		if m == 0 {
			i += 8
			continue
		}
		i += firstLane(m)
		if b[i] == '"' {
			return i + 1
		}
		i = skipEscapes(b, i)
	}
	for i < len(b) {
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
		i++
	}
	return len(b)
}

func skipEscapes(b []byte, i int) int {
	escaped := uint64(0)
	for i+8 <= len(b) {
		w := load(b, i)
		low := w &^ highs
		quote, slash := equal(low, '"')&^w, equal(low, '\\')&^w
		escaped |= slash << 8
		m := (quote&^escaped | slash&escaped) & highs
		if m != 0 {
			k := firstLane(m)
			return i + k + int(escaped>>(8*k+7)&1)
		}
		escaped = slash >> 56
		i += 8
	}
	return i + int(escaped>>7&1)
}

// skipContainer returns the index after the container that opens at b[i], or len(b). Braces and brackets are not told apart: in a valid value
// they match.
func skipContainer(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		if i+8 <= len(b) {
			m := quoteOrBracket(load(b, i))
			if m == 0 {
				i += 8
				continue
			}
			i += firstLane(m)
		}
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
