package acp

import (
	"bytes"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// tool is one call, from its first line to the end of the turn. Agents tell it bit by bit: opencode gives its input with the
// second line, Gemini begins with the question for permission.
type tool struct {
	id, name, title string
	input           []byte // as it was told last, copied
	told, over      bool
	output          []byte // what it has printed, unquoted
}

const (
	maxTools  = 1024    // calls of a turn that are remembered
	maxOutput = 1 << 20 // bytes of a tool's output that are compared with what comes next
)

// toolUpdated reads a tool_call or a tool_call_update.
func (d *Dialect) toolUpdated(update members, out *agent.Decoded) {
	status := update.get("status")
	began := string(status) != `"pending"` && status != nil
	t, repeats := d.toolSeen(update, began, out)
	if t == nil || t.over {
		return
	}
	content := update.get("content")
	switch string(status) {
	case `"completed"`, `"failed"`:
		t.over = true
		out.Add(event.ToolReturned{ID: t.id, OK: string(status) == `"completed"`, Output: d.output(t, update)})
		t.output = nil
		d.calls.Returned(t.id)
		d.calls.Lose(out, func(c agent.Call) bool { return c.Parent == t.id && t.id != "" })
		d.returned()
	default:
		meta := update.get("_meta")
		if printed := terminalOutput(meta); printed != nil {
			d.printed(t, printed, out)
			return
		}
		d.progress(t, content, out)
		out.DropRaw = repeats && t.told && meta == nil && onlyText(content)
	}
}

// toolSeen notes what a line says of a call, and tells the call once that is enough. repeats says that the line names the
// call as the lines before did.
func (d *Dialect) toolSeen(update members, began bool, out *agent.Decoded) (t *tool, repeats bool) {
	id := update.get("toolCallId")
	if !jsonscan.IsString(id) {
		return nil, false
	}
	t, known := d.tools[string(id)]
	if !known {
		if len(d.tools) >= maxTools {
			clear(d.tools)
		}
		t = &tool{id: text(id)}
		d.tools[string(id)] = t
	}
	repeats = known
	if title := update.get("title"); jsonscan.IsString(title) {
		if !jsonscan.EqualString(title, t.title) {
			repeats, t.title = false, text(title)
		}
		if !known && d.profile.title {
			t.name = t.title
		}
	}
	if name := toolName(update); name != "" {
		t.name = name
	}
	if input := update.get("rawInput"); input != nil && !jsonscan.IsNull(input) {
		repeats = repeats && bytes.Equal(input, t.input)
		t.input = append(t.input[:0], input...)
	}
	if !t.told && (began || known || complete(t.input)) {
		d.tellCall(t, update, out)
	}
	return t, repeats
}

// tellCall says that the tool is called.
func (d *Dialect) tellCall(t *tool, update members, out *agent.Decoded) {
	t.told = true
	d.alive(out)
	d.message.end(out)
	d.turn.worked, d.turn.failure = true, ""
	if name, _, cut := strings.Cut(t.id, "__"); cut && t.name == "" && d.profile.ids {
		t.name = name
	}
	if t.name == "" {
		t.name = text(update.get("kind"))
	}
	if t.name == "" {
		t.name = "tool"
	}
	input := t.input
	if !complete(input) {
		// A title is all that some agents tell: what is run, or which file is read.
		input = jsonscan.AppendString(nil, t.title)
	}
	parent := text(jsonscan.Get(update.get("_meta"), "claudeCode", "parentToolUseId"))
	out.Add(event.ToolCalled{ID: t.id, Name: t.name, Input: input, Parent: parent})
	d.calls.Called(agent.Call{ID: t.id, Parent: parent})
}

// complete reports whether an input says more than where: opencode begins with {"cwd":…}, claude-agent-acp with {}.
func complete(input []byte) bool {
	if !jsonscan.IsObject(input) {
		return len(input) > 0
	}
	fields := jsonscan.Object(input)
	for key, _, ok := fields.Next(); ok; key, _, ok = fields.Next() {
		if string(key) != "cwd" {
			return true
		}
	}
	return false
}

// toolName returns the name of the tool, which ACP has no word for: its kind is one of ten.
func toolName(update members) string {
	if name := text(update.get("name")); name != "" {
		return name
	}
	fields := jsonscan.Object(update.get("_meta"))
	for key, value, ok := fields.Next(); ok; key, value, ok = fields.Next() {
		if string(key) == "toolName" {
			return text(value)
		}
		if name := text(jsonscan.Get(value, "toolName")); name != "" {
			return name
		}
	}
	return ""
}

// progress tells what is new in the content of a running tool, which is told whole each time.
func (d *Dialect) progress(t *tool, content []byte, out *agent.Decoded) {
	words := d.contentText(content)
	if words == nil {
		return
	}
	from := len(d.scratch)
	d.scratch = jsonscan.AppendUnquoted(d.scratch, words)
	now := d.scratch[from:]
	news, continues := bytes.CutPrefix(now, t.output)
	if continues && len(news) == 0 || len(now) > maxOutput {
		return
	}
	if !continues {
		news = now
	}
	out.Add(event.ToolProgressed{ID: t.id, Text: plain(news), Replaced: !continues})
	t.output = append(t.output[:0], now...)
}

// printed tells what a tool printed to a terminal that the agent has of its own.
func (d *Dialect) printed(t *tool, words []byte, out *agent.Decoded) {
	out.Add(event.ToolProgressed{ID: t.id, Text: event.Quoted(words)})
	if len(t.output) < maxOutput {
		t.output = jsonscan.AppendUnquoted(t.output, words)
	}
}

// terminalOutput finds what was printed where an agent shows a terminal of its own (pi-acp 0.0.34, codex-acp 2.6.0).
func terminalOutput(meta []byte) []byte {
	for _, name := range []string{"terminal_output", "terminal_output_delta"} {
		if data := jsonscan.Get(meta, name, "data"); jsonscan.IsString(data) {
			return data
		}
	}
	return nil
}

// output returns what a tool came to: its content, else what the agent keeps of the tool's own answer, else what
// was printed.
func (d *Dialect) output(t *tool, update members) event.Text {
	if words := d.contentText(update.get("content")); words != nil {
		return event.Quoted(words)
	}
	raw := update.get("rawOutput")
	if jsonscan.IsString(raw) {
		return event.Quoted(raw)
	}
	for _, key := range []string{"output", "content", "stdout", "error", "message"} {
		if words := jsonscan.Get(raw, key); jsonscan.IsString(words) {
			return event.Quoted(words)
		}
	}
	if len(t.output) > 0 {
		return plain(t.output)
	}
	if jsonscan.IsObject(raw) || jsonscan.IsArray(raw) {
		return plain(raw)
	}
	return nil
}

// contentText returns the texts of a tool's content as one string value, joined as they are spelled; nil where there is none. What
// is no text is named.
func (d *Dialect) contentText(content []byte) []byte {
	from := len(d.scratch)
	parts := jsonscan.Array(content)
	for part, ok := parts.Next(); ok; part, ok = parts.Next() {
		words := partText(part)
		if words == nil {
			continue
		}
		if len(d.scratch) == from {
			d.scratch = append(d.scratch, '"')
		} else {
			d.scratch = append(d.scratch, `\n`...)
		}
		d.scratch = append(d.scratch, words...)
	}
	if len(d.scratch) == from {
		return nil
	}
	d.scratch = append(d.scratch, '"')
	return d.scratch[from:len(d.scratch):len(d.scratch)]
}

// partText returns the inside of a part's string value.
func partText(part []byte) []byte {
	switch string(jsonscan.Get(part, "type")) {
	case `"content"`:
		words := jsonscan.Get(part, "content", "text")
		if jsonscan.IsString(words) {
			return words[1 : len(words)-1]
		}
		if kind := jsonscan.Get(part, "content", "type"); jsonscan.IsString(kind) {
			return []byte("[" + string(kind[1:len(kind)-1]) + "]")
		}
	case `"diff"`:
		if path := jsonscan.Get(part, "path"); jsonscan.IsString(path) {
			return []byte("[diff of " + string(path[1:len(path)-1]) + "]")
		}
	}
	return nil
}

// onlyText reports whether a tool's content is nothing but texts.
func onlyText(content []byte) bool {
	parts := jsonscan.Array(content)
	for part, ok := parts.Next(); ok; part, ok = parts.Next() {
		if string(jsonscan.Get(part, "type")) != `"content"` || !jsonscan.IsString(jsonscan.Get(part, "content", "text")) {
			return false
		}
	}
	return true
}
