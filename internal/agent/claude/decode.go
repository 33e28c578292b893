package claude

import (
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

const (
	keptMembers = 256     // of a line; more are given back
	keptScratch = 1 << 20 // bytes
	noticeLimit = 2 << 10 // bytes of text in a notice or an error; the whole stands in raw
)

// members are the top level of a line.
type members []jsonscan.Member

// get returns the value of a member, nil where there is none.
func (m members) get(key string) []byte {
	for i := range m {
		if string(m[i].Key) == key {
			return m[i].Value
		}
	}
	return nil
}

// Decode reads one line of Claude Code. What stands on stderr is meant for a person.
func (d *Dialect) Decode(line []byte, from agent.Stream, out *agent.Decoded) {
	if from == agent.Stderr {
		out.Add(event.AgentUnread{Line: plain(line), Stream: "stderr"})
		return
	}
	index, err := jsonscan.Index(line, d.members)
	d.members = index[:0]
	if cap(index) > keptMembers {
		d.members = nil
	}
	if d.scratch = d.scratch[:0]; cap(d.scratch) > keptScratch {
		d.scratch = nil
	}
	if err != nil {
		if len(line) > 0 {
			out.Add(event.AgentUnread{Line: plain(line)})
		}
		return
	}
	out.JSON = true
	d.decode(index, out)
	d.turn.heard(out.Facts)
}

// decode knows Claude's types of lines. "type" need not be the first member: in a result it is one of the last.
func (d *Dialect) decode(m members, out *agent.Decoded) {
	switch string(m.get("type")) {
	case `"assistant"`:
		d.assistant(m, out)
	case `"user"`:
		d.user(m, out)
	case `"stream_event"`:
		d.streamEvent(m, out)
	case `"system"`:
		d.system(m, out)
	case `"result"`:
		d.result(m, out)
	case `"tool_progress"`:
		progress(m, out)
	case `"command_lifecycle"`:
		d.lifecycle(m, out)
	case `"rate_limit_event"`:
		d.rateLimit(m, out)
	case `"control_request"`:
		d.controlRequest(m, out)
	case `"control_response"`:
		out.Add(event.AgentNoticed{What: "control_response", Text: short(jsonscan.Get(m.get("response"), "error"))})
	case `"control_cancel_request"`, `"keep_alive"`:
		out.Add(event.AgentNoticed{What: text(m.get("type"))})
	default:
		out.Add(event.AgentUnread{})
	}
}

// progress is a sign of life, every 30 s, and says nothing of what the tool does.
func progress(m members, out *agent.Decoded) {
	if id := text(m.get("tool_use_id")); id != "" {
		out.Add(event.ToolProgressed{ID: id})
		return
	}
	out.Add(event.AgentNoticed{What: "tool_progress", Text: short(m.get("tool_name"))})
}

// lifecycle says what became of a message.
func (d *Dialect) lifecycle(m members, out *agent.Decoded) {
	if sent := d.mine(m.get("command_uuid")); sent != nil {
		d.echoes = true
		switch string(m.get("state")) {
		case `"started"`, `"completed"`:
			d.taken(sent, out)
		case `"cancelled"`:
			d.dropped(sent, out)
		}
	}
	if len(out.Facts) == 0 {
		out.Add(event.AgentNoticed{What: d.words.of("command_lifecycle/", m.get("state"))})
	}
}

// words are names that come again and again, so that each is put together once.
type words map[word]string

type word struct{ prefix, value string }

// keptWords bounds them against a Claude that never says the same twice.
const keptWords = 512

// of returns the prefix and the text of a string value.
func (ws *words) of(prefix string, value []byte) string {
	if name, ok := (*ws)[word{prefix, string(value)}]; ok {
		return name
	}
	name := prefix + text(value)
	if len(value) > 64 {
		return name
	}
	if *ws == nil || len(*ws) == keptWords {
		*ws = words{}
	}
	(*ws)[word{prefix, string(value)}] = name
	return name
}

// text returns the text of a string value, "" for anything else.
func text(value []byte) string { return jsonscan.Unquote(value) }

// short is text for a person, cut to noticeLimit.
func short(value []byte) string {
	if len(value) > 6*noticeLimit {
		// An escaped byte takes up to six, so that what is cut here is cut below anyway.
		return cut(shorten(value))
	}
	return cut(text(value))
}

// shorten returns the beginning of a string value as one, without taking an escape apart.
func shorten(value []byte) string {
	if !jsonscan.IsString(value) {
		return ""
	}
	end := 6 * noticeLimit
	for i := 1; i < end; {
		next := i + 1
		if value[i] == '\\' {
			next = i + 2
			if value[i+1] == 'u' {
				next = i + 6
			}
		}
		if next > end {
			end = i
			break
		}
		i = next
	}
	return text(append(append([]byte(nil), value[:end]...), '"'))
}

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

// plain keeps a line that is no JSON as a text.
func plain(line []byte) event.Text { return jsonscan.AppendStringBytes(nil, line) }

// flag reports whether a value is true.
func flag(value []byte) bool { return string(value) == "true" }
