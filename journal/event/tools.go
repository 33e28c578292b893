package event

import (
	"bytes"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
)

// The events of tools decode themselves: their texts are most of a journal's bytes, which
// encoding/json reads three times. What they keep of a line is a copy.

func (p *ToolCalled) decode(e Event) bool {
	return decodeMembers(e, func(key, value []byte) bool {
		switch string(key) {
		case "id":
			return takeString(&p.ID, value)
		case "name":
			return takeString(&p.Name, value)
		case "input":
			p.Input = bytes.Clone(value)
		case "parent":
			return takeString(&p.Parent, value)
		}
		return true
	})
}

func (p *ToolProgressed) decode(e Event) bool {
	return decodeMembers(e, func(key, value []byte) bool {
		switch string(key) {
		case "id":
			return takeString(&p.ID, value)
		case "text":
			return takeText(&p.Text, value)
		case "replaced":
			return takeBool(&p.Replaced, value)
		}
		return true
	})
}

func (p *ToolReturned) decode(e Event) bool {
	return decodeMembers(e, func(key, value []byte) bool {
		switch string(key) {
		case "id":
			return takeString(&p.ID, value)
		case "ok":
			return takeBool(&p.OK, value)
		case "output":
			return takeText(&p.Output, value)
		case "took":
			return takeInt(&p.Took, value)
		case "blob":
			return takeString((*string)(&p.Blob), value)
		case "bytes":
			count := int64(p.Bytes)
			good := takeInt(&count, value)
			p.Bytes = int(count)
			return good
		}
		return true
	})
}

// decodeMembers calls take with each member of an event's data, and reports whether all are valid.
func decodeMembers(e Event, take func(key, value []byte) bool) bool {
	good := jsonscan.IsObject(e.data)
	cur := jsonscan.Object(e.data)
	for {
		key, value, ok := cur.Next()
		if !ok {
			return good
		}
		good = take(key, value) && good
	}
}

// As in encoding/json, null leaves what is there, except a text.

func takeString(s *string, value []byte) bool {
	if jsonscan.IsNull(value) {
		return true
	}
	*s = jsonscan.Unquote(value)
	return jsonscan.IsString(value)
}

func takeText(t *Text, value []byte) bool {
	if jsonscan.IsNull(value) {
		*t = nil
		return true
	}
	*t = bytes.Clone(value)
	return jsonscan.IsString(value)
}

func takeBool(b *bool, value []byte) (ok bool) {
	if jsonscan.IsNull(value) {
		return true
	}
	*b, ok = jsonscan.Bool(value)
	return ok
}

func takeInt(n *int64, value []byte) (ok bool) {
	if jsonscan.IsNull(value) {
		return true
	}
	*n, ok = jsonscan.Int(value)
	return ok
}
