package claude

import (
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

const (
	keptScratch = 1 << 20 // bytes
	noticeLimit = 2 << 10 // bytes of text in a notice or an error; the whole stands in raw
)

// Decode reads one line of Claude Code. What stands on stderr is meant for a person.
func (d *Dialect) Decode(line []byte, from agent.Stream, out *agent.Decoded) {
	if from == agent.Stderr {
		out.Add(event.AgentUnread{Line: plain(line), Stream: "stderr"})
		return
	}
	m, err := d.line.Read(line)
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
	d.decode(m, out)
	d.turn.heard(out.Facts)
}

// decode knows Claude's types of lines. "type" need not be the first member: in a result it is one of the last.
func (d *Dialect) decode(m jsonscan.Value, out *agent.Decoded) {
	switch string(m.Get("type").Inner()) {
	case "assistant":
		d.assistant(m, out)
	case "user":
		d.user(m, out)
	case "stream_event":
		d.streamEvent(m, out)
	case "system":
		d.system(m, out)
	case "result":
		d.result(m, out)
	case "tool_progress":
		progress(m, out)
	case "command_lifecycle":
		d.lifecycle(m, out)
	case "rate_limit_event":
		d.rateLimit(m, out)
	case "control_request":
		d.controlRequest(m, out)
	case "control_response":
		out.Add(event.AgentNoticed{What: "control_response", Text: short(m.Get("response", "error"))})
	case "control_cancel_request", "keep_alive":
		out.Add(event.AgentNoticed{What: m.Get("type").Text()})
	default:
		out.Add(event.AgentUnread{})
	}
}

// progress is a sign of life, every 30 s, and says nothing of what the tool does.
func progress(m jsonscan.Value, out *agent.Decoded) {
	if id := m.Get("tool_use_id").Text(); id != "" {
		out.Add(event.ToolProgressed{ID: id})
		return
	}
	out.Add(event.AgentNoticed{What: "tool_progress", Text: short(m.Get("tool_name"))})
}

// lifecycle says what became of a message.
func (d *Dialect) lifecycle(m jsonscan.Value, out *agent.Decoded) {
	if sent := d.mine(m.Get("command_uuid")); sent != nil {
		d.echoes = true
		switch string(m.Get("state").Inner()) {
		case "started", "completed":
			d.taken(sent, out)
		case "cancelled":
			d.dropped(sent, out)
		}
	}
	if len(out.Facts) == 0 {
		out.Add(event.AgentNoticed{What: d.words.of("command_lifecycle/", m.Get("state"))})
	}
}

// words are names that come again and again, so that each is put together once.
type words map[word]string

type word struct{ prefix, value string }

// keptWords bounds them against a Claude that never says the same twice.
const keptWords = 512

// of returns the prefix and the text of a string value.
func (ws *words) of(prefix string, value jsonscan.Value) string {
	spelled := value.Raw()
	if name, ok := (*ws)[word{prefix, string(spelled)}]; ok {
		return name
	}
	name := prefix + value.Text()
	if len(spelled) > 64 {
		return name
	}
	if *ws == nil || len(*ws) == keptWords {
		*ws = words{}
	}
	(*ws)[word{prefix, string(spelled)}] = name
	return name
}

// short is text for a person, cut to noticeLimit.
func short(value jsonscan.Value) string {
	if len(value.Raw()) > 6*noticeLimit {
		// An escaped byte takes up to six, so that what is cut here is cut below anyway.
		return cut(shorten(value.Inner()))
	}
	return cut(value.Text())
}

// shorten returns the beginning of a text that is spelled with its escapes, without taking one apart.
func shorten(inner []byte) string {
	end := min(6*noticeLimit, len(inner))
	for i := 0; i < end; {
		next := i + 1
		if inner[i] == '\\' {
			next = i + 2
			if inner[i+1] == 'u' {
				next = i + 6
			}
		}
		if next > end {
			end = i
			break
		}
		i = next
	}
	return unescaped(inner[:end])
}

// unescaped returns a text that is spelled with its escapes and without quotes, as names of members are.
func unescaped(inner []byte) string {
	quoted := append(append(make([]byte, 0, len(inner)+2), '"'), inner...)
	return jsonscan.Unquote(append(quoted, '"'))
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
