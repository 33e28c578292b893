package agent

import (
	"bytes"
	"cmp"
	"unsafe"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// noticeLimit is how long a text for a person may be, in bytes. The line in raw has all of it.
const noticeLimit = 2 << 10

// keptMemory is how much memory for joined texts is kept from one line to the next, in bytes.
const keptMemory = 1 << 20

// Notice adds a notice: what is its name, text is for a person and cut to 2 KiB.
func (d *Decoded) Notice(what string, text jsonscan.Value) {
	d.Add(event.AgentNoticed{What: what, Text: d.Name("", text)})
}

// Say adds a piece of what the agent says, or thinks.
func (d *Decoded) Say(p event.AgentSaid, thought bool) {
	if thought {
		d.Add(event.AgentThought(p))
		return
	}
	d.Add(p)
}

// Plan adds the agent's list of things to do. member is the member of an item that holds its text.
func (d *Decoded) Plan(list jsonscan.Value, member string) {
	var todos []event.Todo
	for item := range list.Items() {
		todo := event.Todo{Text: item.Get(member).Text(), Status: "pending"}
		switch status := string(item.Get("status").Inner()); {
		case status == "in_progress", status == "inProgress":
			todo.Status = "active"
		case status == "completed", item.Get("completed").IsTrue():
			todo.Status = "done"
		}
		todos = append(todos, todo)
	}
	d.Add(event.AgentPlanned{Todos: todos})
}

// Read reads a line of JSON. ok is false if it is none, or is from standard error: then the line is
// unparsed, or dropped if it is blank.
func (d *Decoded) Read(doc *jsonscan.Document, line []byte, from Stream) (value jsonscan.Value, ok bool) {
	if from == Stderr {
		d.Add(event.AgentUnparsed{Line: d.Plain(line), Stream: "stderr"})
		return value, false
	}
	value, err := doc.Read(line)
	switch {
	case err == nil:
		d.JSON = true
	case len(bytes.TrimSpace(line)) == 0:
		d.DropRaw = true
	default:
		d.Add(event.AgentUnparsed{Line: d.Plain(line)})
	}
	return value, err == nil
}

// The texts that follow are for facts of this line. They share memory with the line, so a dialect
// copies what it keeps for later lines (value.Text()).

// Text returns the text of a string value, "" for anything else.
func (d *Decoded) Text(value jsonscan.Value) string {
	inner := value.Inner()
	if bytes.IndexByte(inner, '\\') < 0 {
		return shared(inner)
	}
	return shared(d.Unquote(value))
}

// Unquote returns the text of a string value as bytes.
func (d *Decoded) Unquote(value jsonscan.Value) []byte {
	from := len(d.memory)
	d.memory = jsonscan.AppendUnquoted(d.memory, value.Raw())
	return d.memory[from:len(d.memory):len(d.memory)]
}

// Plain returns text as JSON spells it.
func (d *Decoded) Plain(text []byte) event.Text {
	from := len(d.memory)
	d.memory = jsonscan.AppendStringBytes(d.memory, text)
	return d.memory[from:len(d.memory):len(d.memory)]
}

// Quote joins parts of string values, as JSON spells them, to one string value.
func (d *Decoded) Quote(parts ...[]byte) event.Text {
	from := len(d.memory)
	d.memory = append(d.memory, '"')
	for _, part := range parts {
		d.memory = append(d.memory, part...)
	}
	d.memory = append(d.memory, '"')
	return d.memory[from:len(d.memory):len(d.memory)]
}

// Join joins the texts of a list, as JSON spells them, with newlines to one string value. text
// returns the text of an item, false if it has none. Join returns nil if no item has one.
func (d *Decoded) Join(list jsonscan.Value, text func(item jsonscan.Value) ([]byte, bool)) event.Text {
	from := len(d.memory)
	for item := range list.Items() {
		words, ok := text(item)
		if !ok {
			continue
		}
		if len(d.memory) == from {
			d.memory = append(d.memory, '"')
		} else {
			d.memory = append(d.memory, `\n`...)
		}
		d.memory = append(d.memory, words...)
	}
	if len(d.memory) == from {
		return nil
	}
	d.memory = append(d.memory, '"')
	return d.memory[from:len(d.memory):len(d.memory)]
}

// TextPart is the text of an item with a member "text", for Join.
func TextPart(item jsonscan.Value) ([]byte, bool) {
	text := item.Get("text")
	return text.Inner(), text.IsString()
}

// Name joins a prefix and the text of a string value, cut to 2 KiB.
func (d *Decoded) Name(prefix string, value jsonscan.Value) string {
	return Cut(prefix + d.Text(value))
}

// shared is a string of memory that is not written to until the next line.
func shared(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Brief returns the text of a string value, for a person: cut to 2 KiB, and a copy.
func Brief(value jsonscan.Value) string { return Cut(value.Text()) }

// FirstText returns the first of these members of an object that is a text and not empty.
func FirstText(object jsonscan.Value, members ...string) string {
	for _, member := range members {
		if text := object.Get(member).Text(); text != "" {
			return text
		}
	}
	return ""
}

// Texts returns the texts of a list's items, or of their members of that path, at most so many.
func Texts(list jsonscan.Value, most int, path ...string) (texts []string) {
	for item := range list.Items() {
		if len(texts) == most {
			break
		}
		texts = append(texts, item.Get(path...).Text())
	}
	return texts
}

// Cut shortens a text for a person to 2 KiB.
func Cut(s string) string {
	if len(s) <= noticeLimit {
		return s
	}
	return units.Prefix(s, noticeLimit) + "…"
}

// Refusal returns what a part of the model's answer says if it is a refusal; "" if it is not.
func Refusal(part jsonscan.Value) string {
	if !part.Get("type").Is("refusal") {
		return ""
	}
	return cmp.Or(Brief(part.Get("refusal")), Brief(part.Get("text")), "without a word")
}

// Refused is the end of a turn whose answer is a refusal.
func Refused(why string) event.AgentFinished {
	return event.AgentFinished{Outcome: event.TurnError, Error: why, Kind: event.KindRefusal}
}
