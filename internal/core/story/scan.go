package story

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
)

// A span is where something is in a file: data[from:to].
type span struct{ from, to int }

func (s span) of(data []byte) []byte { return data[s.from:s.to] }

// A member is one field of an object, as the file has it.
type member struct {
	name  string
	key   span // with its quotes
	value span
}

// An object is where the members of a JSON object are.
type object struct {
	at      span // with its braces
	members []member
}

// get returns the first member of a name.
func (o *object) get(name string) (member, bool) {
	for _, m := range o.members {
		if m.name == name {
			return m, true
		}
	}
	return member{}, false
}

// twice returns the name of a member that the object has more than once; false if there is none.
func (o *object) twice() (string, bool) {
	seen := make(map[string]bool, len(o.members))
	for _, m := range o.members {
		if seen[m.name] {
			return m.name, true
		}
		seen[m.name] = true
	}
	return "", false
}

// scanObject finds the members of the object at a span of valid JSON.
func scanObject(data []byte, at span) object {
	o := object{at: at}
	i := skipSpace(data, at.from+1)
	for i < at.to && data[i] == '"' {
		key := span{i, i + jsonscan.Len(data[i:at.to])}
		i = skipSpace(data, key.to)
		value := scanValue(data, i+1, at.to) // after the colon
		o.members = append(o.members, member{jsonscan.Unquote(key.of(data)), key, value})
		i = nextItem(data, value.to)
	}
	return o
}

// scanArray finds the first items of the array at a span of valid JSON, at most so many.
func scanArray(data []byte, at span, most int) []span {
	var items []span
	i := skipSpace(data, at.from+1)
	for i < at.to-1 && len(items) < most {
		item := scanValue(data, i, at.to)
		items = append(items, item)
		i = nextItem(data, item.to)
	}
	return items
}

// scanValue returns where the value is that begins at an index or after white space there.
func scanValue(data []byte, from, to int) span {
	from = skipSpace(data, from)
	return span{from, from + jsonscan.Len(data[from:to])}
}

// spaces are the bytes that JSON allows between values.
const spaces = " \t\r\n"

func skipSpace(data []byte, i int) int {
	for i < len(data) && strings.IndexByte(spaces, data[i]) >= 0 {
		i++
	}
	return i
}

// nextItem passes over a comma, where there is one, and the white space around it.
func nextItem(data []byte, i int) int {
	i = skipSpace(data, i)
	if i < len(data) && data[i] == ',' {
		i = skipSpace(data, i+1)
	}
	return i
}

// kindOf names the type of a value in the words of JSON.
func kindOf(value []byte) string {
	if len(value) == 0 {
		return "nothing"
	}
	switch value[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
