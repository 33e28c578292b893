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
	complete        bool   // that says more than where
	told, over      bool
	output          []byte // what it has printed, unquoted
}

const (
	maxTools  = 1024    // calls of a turn that are remembered
	maxOutput = 1 << 20 // bytes of a tool's output that are compared with what comes next
)

// toolUpdated reads a tool_call or a tool_call_update.
func (d *Dialect) toolUpdated(u *update, out *agent.Decoded) {
	began := !u.status.Is("pending") && u.status.Exists()
	t, repeats := d.toolSeen(u, began, out)
	if t == nil || t.over {
		return
	}
	switch string(u.status.Inner()) {
	case "completed", "failed":
		t.over = true
		if printed := terminalOutput(u.meta); printed.Exists() {
			t.output = jsonscan.AppendUnquoted(t.output, printed.Raw())
		}
		out.Add(event.ToolReturned{ID: t.id, OK: u.status.Is("completed"), Output: d.output(t, u)})
		t.output = nil
		d.calls.Returned(t.id)
		d.calls.Lose(out, func(c agent.Call) bool { return c.Parent == t.id && t.id != "" })
		d.returned()
	default:
		if printed := terminalOutput(u.meta); printed.Exists() {
			d.printed(t, printed, out)
			return
		}
		if !u.what.Is("tool_call") { // there it is what the call is to do: Gemini, Qwen and Claude describe it
			d.progress(t, u.content, out)
		}
		out.DropRaw = repeats && t.told && !u.meta.Exists() && onlyText(u.content)
	}
}

// toolSeen notes what a line says of a call, and tells the call once that is enough. repeats says that the line names the
// call as the lines before did.
func (d *Dialect) toolSeen(u *update, began bool, out *agent.Decoded) (t *tool, repeats bool) {
	if !u.callID.IsString() {
		return nil, false
	}
	t, known := d.tools[out.Text(u.callID)]
	if !known {
		if len(d.tools) >= maxTools {
			clear(d.tools)
		}
		t = &tool{id: u.callID.Text()}
		d.tools[t.id] = t
	}
	repeats = known
	if u.title.IsString() {
		if !u.title.Says(t.title) {
			repeats, t.title = false, u.title.Text()
		}
		if !known && d.profile.title {
			t.name = t.title
		}
	}
	if name := toolName(u); len(name.Inner()) > 0 && !name.Says(t.name) {
		t.name = name.Text()
	}
	if input := u.input.Raw(); u.input.Exists() && !u.input.IsNull() && !bytes.Equal(input, t.input) {
		repeats = false
		t.input, t.complete = append(t.input[:0], input...), complete(u.input)
	}
	if !t.told && (began || known || t.complete) {
		d.tellCall(t, u, out)
	}
	return t, repeats
}

// tellCall says that the tool is called.
func (d *Dialect) tellCall(t *tool, u *update, out *agent.Decoded) {
	t.told = true
	d.alive(out)
	d.message.end(out)
	d.turn.worked, d.turn.failure = true, ""
	if name, _, cut := strings.Cut(t.id, "__"); cut && t.name == "" && d.profile.ids {
		t.name = name
	}
	if t.name == "" {
		t.name = u.kind.Text()
	}
	if t.name == "" {
		t.name = "tool"
	}
	input := t.input
	if !t.complete {
		// A title is all that some agents tell: what is run, or which file is read.
		input = d.quoted([]byte(t.title))
	}
	parent := u.meta.Get("claudeCode", "parentToolUseId").Text()
	out.Add(event.ToolCalled{ID: t.id, Name: t.name, Input: input, Parent: parent})
	d.calls.Called(agent.Call{ID: t.id, Parent: parent})
}

// quoted spells a text as JSON does, in the scratch memory.
func (d *Dialect) quoted(text []byte) []byte {
	from := len(d.scratch)
	d.scratch = jsonscan.AppendStringBytes(d.scratch, text)
	return d.scratch[from:len(d.scratch):len(d.scratch)]
}

// complete reports whether an input says more than where: opencode begins with {"cwd":…}, claude-agent-acp with {}.
func complete(input jsonscan.Value) bool {
	if !input.IsObject() {
		return input.Exists()
	}
	for key := range input.Members() {
		if string(key) != "cwd" {
			return true
		}
	}
	return false
}

// toolName returns the name of the tool, which ACP has no word for: its kind is one of ten.
func toolName(u *update) jsonscan.Value {
	if len(u.name.Inner()) > 0 {
		return u.name
	}
	for key, value := range u.meta.Members() {
		if string(key) == "toolName" {
			return value
		}
		if name := value.Get("toolName"); len(name.Inner()) > 0 {
			return name
		}
	}
	return jsonscan.Value{}
}

// progress tells what is new in the content of a running tool, which is told whole each time.
func (d *Dialect) progress(t *tool, content jsonscan.Value, out *agent.Decoded) {
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
	out.Add(event.ToolProgressed{ID: t.id, Text: d.quoted(news), Replaced: !continues})
	t.output = append(t.output[:0], now...)
}

// printed tells what a tool printed to a terminal that the agent has of its own.
func (d *Dialect) printed(t *tool, words jsonscan.Value, out *agent.Decoded) {
	out.Add(event.ToolProgressed{ID: t.id, Text: event.Quoted(words.Raw())})
	if len(t.output) < maxOutput {
		t.output = jsonscan.AppendUnquoted(t.output, words.Raw())
	}
}

// terminalOutput finds what was printed where an agent shows a terminal of its own (pi-acp 0.0.34, codex-acp 2.6.0).
func terminalOutput(meta jsonscan.Value) jsonscan.Value {
	for _, name := range []string{"terminal_output", "terminal_output_delta"} {
		if data := meta.Get(name, "data"); data.IsString() {
			return data
		}
	}
	return jsonscan.Value{}
}

// output returns what a tool came to: the tool's own answer where that is text, since content is made for people to look at (fenced, or
// among words about it), else the content, else an error's message, else what was printed.
func (d *Dialect) output(t *tool, u *update) event.Text {
	if text := textIn(u.output, "output", "content", "stdout"); text != nil {
		return text
	}
	if words := d.contentText(u.content); words != nil {
		return event.Quoted(words)
	}
	if text := textIn(u.output, "error", "message"); text != nil {
		return text
	}
	if len(t.output) > 0 {
		return plain(t.output)
	}
	if u.output.IsObject() || u.output.IsArray() {
		return plain(u.output.Raw())
	}
	return nil
}

// textIn returns a value that is a text, or the first of its members that is one and not empty.
func textIn(value jsonscan.Value, members ...string) event.Text {
	if len(value.Inner()) > 0 {
		return event.Quoted(value.Raw())
	}
	for _, name := range members {
		if words := value.Get(name); len(words.Inner()) > 0 {
			return event.Quoted(words.Raw())
		}
	}
	return nil
}

// contentText returns the texts of a tool's content as one string value, joined as they are spelled; nil where there is none. What
// is no text is named.
func (d *Dialect) contentText(content jsonscan.Value) []byte {
	from := len(d.scratch)
	for part := range content.Items() {
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
func partText(part jsonscan.Value) []byte {
	switch string(part.Get("type").Inner()) {
	case "content":
		content := part.Get("content")
		if words := content.Get("text"); words.IsString() {
			return words.Inner()
		}
		if kind := content.Get("type"); kind.IsString() {
			return []byte("[" + string(kind.Inner()) + "]")
		}
	case "diff":
		if path := part.Get("path"); path.IsString() {
			return []byte("[diff of " + string(path.Inner()) + "]")
		}
	}
	return nil
}

// onlyText reports whether a tool's content is nothing but texts.
func onlyText(content jsonscan.Value) bool {
	for part := range content.Items() {
		if !part.Get("type").Is("content") || !part.Get("content", "text").IsString() {
			return false
		}
	}
	return true
}
