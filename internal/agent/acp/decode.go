package acp

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// Memory beyond these sizes is not kept from one line to the next.
const (
	keptMembers = 64
	keptScratch = 1 << 20
	noticeLimit = 2 << 10 // bytes of text in a notice or an error; the whole stands in raw
)

// members are the top level of a frame.
type members []jsonscan.Member

func (m members) get(key string) []byte {
	for i := range m {
		if string(m[i].Key) == key {
			return m[i].Value
		}
	}
	return nil
}

// of appends the members of an object that was checked.
func (m members) of(object *jsonscan.ObjectCursor) members {
	for key, value, ok := object.Next(); ok; key, value, ok = object.Next() {
		m = append(m, jsonscan.Member{Key: key, Value: value})
	}
	return m
}

// Decode reads one frame. Lines that are none are kept as they are: launchers print some to stdout, and stderr is
// meant for a person.
func (d *Dialect) Decode(line []byte, from agent.Stream, out *agent.Decoded) {
	if from == agent.Stderr {
		if !d.logged(line, out) {
			out.Add(event.AgentUnread{Line: plain(line), Stream: "stderr"})
		}
		return
	}
	if len(bytes.TrimSpace(line)) == 0 {
		out.DropRaw = true
		return
	}
	index, err := jsonscan.Index(line, d.members[:0])
	if d.members = index[:0]; cap(index) > keptMembers {
		d.members = nil
	}
	if d.scratch = d.scratch[:0]; cap(d.scratch) > keptScratch {
		d.scratch = nil
	}
	if err != nil {
		out.Add(event.AgentUnread{Line: plain(line)})
		return
	}
	out.JSON = true
	d.frame(index, out)
}

// frame tells the three kinds of JSON-RPC apart: a method with an id is a request, without one a notification, and an
// id without a method is an answer.
func (d *Dialect) frame(m members, out *agent.Decoded) {
	method, id := m.get("method"), m.get("id")
	switch {
	case jsonscan.IsString(method) && id != nil && !jsonscan.IsNull(id):
		d.requested(method, id, m.get("params"), out)
	case string(method) == `"session/update"`:
		d.updated(m.get("params"), out)
	case jsonscan.IsString(method):
		out.Add(event.AgentNoticed{What: short(method)})
	case id != nil && (m.get("result") != nil || m.get("error") != nil):
		d.answered(id, m, out)
	default:
		out.Add(event.AgentUnread{})
	}
}

// text returns the text of a string value, "" for anything else.
func text(value []byte) string { return jsonscan.Unquote(value) }

// short is text for a person.
func short(value []byte) string { return cut(text(value)) }

func cut(s string) string {
	if len(s) <= noticeLimit {
		return s
	}
	end := noticeLimit
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return strings.ToValidUTF8(s[:end], "") + "…"
}

// plain keeps bytes as a text.
func plain(b []byte) event.Text { return jsonscan.AppendStringBytes(nil, b) }

// count returns a number of tokens.
func count(value []byte, name string) int64 {
	n, _ := jsonscan.Int(jsonscan.Get(value, name))
	return max(n, 0)
}
