package agent

import (
	"bytes"
	"unicode/utf8"
	"unsafe"

	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// noticeLimit is how much text a notice or an error holds, in bytes; the whole stands in raw.
const noticeLimit = 2 << 10

// keptMemory is how much memory for joined texts is kept from one line to the next, in bytes.
const keptMemory = 64 << 10

// Notice adds a notice: what is its name, text is for a person and cut to 2 KiB.
func (d *Decoded) Notice(what string, text jsonscan.Value) {
	d.Add(event.AgentNoticed{What: what, Text: d.Name("", text)})
}

// Text returns the text of a string value, "" for anything else, for a fact of this line. It is not copied where it need not be, so a
// dialect that keeps it for later lines takes value.Text().
func (d *Decoded) Text(value jsonscan.Value) string {
	inner := value.Inner()
	if bytes.IndexByte(inner, '\\') < 0 {
		return shared(inner)
	}
	from := len(d.memory)
	d.memory = jsonscan.AppendUnquoted(d.memory, value.Raw())
	return shared(d.memory[from:])
}

// Name joins a prefix and the text of a string value, cut to 2 KiB, for a fact of this line, as Text does.
func (d *Decoded) Name(prefix string, value jsonscan.Value) string {
	inner := value.Inner()
	switch {
	case len(inner) == 0:
		return prefix
	case len(inner) > noticeLimit:
		return Cut(prefix + Brief(value))
	case prefix == "":
		return d.Text(value)
	}
	from := len(d.memory)
	d.memory = append(d.memory, prefix...)
	d.memory = jsonscan.AppendUnquoted(d.memory, value.Raw())
	return Cut(shared(d.memory[from:]))
}

// shared is a string of memory that is not written to until the next line.
func shared(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Brief returns the text of a string value, for a person: cut to 2 KiB, and a copy.
func Brief(value jsonscan.Value) string {
	inner := value.Inner()
	if len(inner) <= 6*noticeLimit {
		return Cut(value.Text())
	}
	// What is cut here is cut below anyway, since an escaped byte takes six at most. No escape is taken apart.
	end := 0
	for next := 0; next <= 6*noticeLimit; {
		end = next
		switch {
		case inner[end] != '\\':
			next++
		case inner[end+1] != 'u':
			next += 2
		default:
			next += 6
		}
	}
	quoted := append(append(make([]byte, 0, end+2), '"'), inner[:end]...)
	return Cut(jsonscan.Unquote(append(quoted, '"')))
}

// Cut shortens a text for a person to 2 KiB.
func Cut(s string) string {
	if len(s) <= noticeLimit {
		return s
	}
	end := noticeLimit
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
