package acp

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// tool is one call, from its first line to the end of the turn. Agents report it bit by bit:
// opencode gives its input with the second line, Gemini begins with the question for permission.
type tool struct {
	id, name, title string
	input           []byte // as it was reported last, copied
	complete        bool   // the input says more than where the tool works
	reported, over  bool
	output          []byte // what it has printed, unquoted
}

const (
	maxTools  = 1024    // calls of a turn that are remembered
	maxOutput = 1 << 20 // bytes of a tool's output that are compared with what comes next
)

// toolUpdated reads a tool_call or a tool_call_update.
func (d *Dialect) toolUpdated(u update, out *agent.Decoded) {
	began := !u.Get("status").Is("pending") && u.Get("status").Exists()
	t, repeats := d.toolSeen(u, began, out)
	if t == nil || t.over {
		return
	}
	switch string(u.Get("status").Inner()) {
	case "completed", "failed":
		t.over = true
		if printed := terminalOutput(u.meta); printed.IsString() {
			t.output = jsonscan.AppendUnquoted(t.output, printed.Raw())
		}
		d.calls.Returned(out, event.ToolReturned{ID: t.id, OK: u.Get("status").Is("completed"), Output: output(t, u, out)})
		t.output = nil
		d.calls.Lose(out, func(c agent.Call) bool { return c.Parent == t.id && t.id != "" })
		d.toolPassed()
	default:
		if printed := terminalOutput(u.meta); printed.IsString() {
			d.terminalText(t, printed, out)
			return
		}
		if !u.what.Is("tool_call") { // there it is what the call is to do: Gemini, Qwen and Claude describe it
			d.progress(t, u.content, out)
		}
		out.DropRaw = repeats && t.reported && !u.meta.Exists() && onlyText(u.content)
	}
}

// toolSeen notes what a line says of a call, and reports the call once enough is known. repeats
// says that the line names the call as earlier lines did.
func (d *Dialect) toolSeen(u update, began bool, out *agent.Decoded) (t *tool, repeats bool) {
	if !u.Get("toolCallId").IsString() {
		return nil, false
	}
	t, known := d.tools[out.Text(u.Get("toolCallId"))]
	if !known {
		if len(d.tools) >= maxTools {
			clear(d.tools)
		}
		t = &tool{id: u.Get("toolCallId").Text()}
		d.tools[t.id] = t
	}
	repeats = known
	if title := u.Get("title"); title.IsString() && !title.Says(t.title) {
		repeats, t.title = false, title.Text()
	}
	if !known && d.profile.title {
		t.name = t.title
	}
	if name := toolName(u); len(name.Inner()) > 0 && !name.Says(t.name) {
		t.name = name.Text()
	}
	if input := u.Get("rawInput"); input.Exists() && !input.IsNull() && !bytes.Equal(input.Raw(), t.input) {
		repeats = false
		t.input, t.complete = append(t.input[:0], input.Raw()...), complete(input)
	}
	if !t.reported && (began || known || t.complete) {
		d.reportCall(t, u, out)
	}
	return t, repeats
}

// reportCall says that the tool is called.
func (d *Dialect) reportCall(t *tool, u update, out *agent.Decoded) {
	t.reported = true
	d.modelAnswered(out)
	d.message.end(out)
	d.turn.worked, d.turn.failure = true, ""
	if name, _, cut := strings.Cut(t.id, "__"); cut && d.profile.ids {
		t.name = cmp.Or(t.name, name)
	}
	t.name = cmp.Or(t.name, u.Get("kind").Text(), "tool")
	input := t.input
	if !t.complete {
		// Some agents report only a title: what is run, or which file is read.
		input = out.Plain([]byte(t.title))
	}
	parent := u.meta.Get("claudeCode", "parentToolUseId").Text()
	d.calls.Called(out, event.ToolCalled{ID: t.id, Name: t.name, Input: input, Parent: parent})
}

// complete reports whether an input says more than where the tool works: opencode begins with
// {"cwd":…}, claude-agent-acp with {}.
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
func toolName(u update) jsonscan.Value {
	if len(u.Get("name").Inner()) > 0 {
		return u.Get("name")
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

// progress reports what is new in the content of a running tool, which the agent repeats each time.
func (d *Dialect) progress(t *tool, content jsonscan.Value, out *agent.Decoded) {
	words := contentText(content, out)
	if words == nil {
		return
	}
	now := words.AppendTo(nil)
	news, continues := bytes.CutPrefix(now, t.output) // all of now, if it does not continue
	if continues && len(news) == 0 || len(now) > maxOutput {
		return
	}
	out.Add(event.ToolProgressed{ID: t.id, Text: out.Plain(news), Replaced: !continues})
	t.output = now
}

// terminalText reports what a tool printed to a terminal that the agent has of its own.
func (d *Dialect) terminalText(t *tool, words jsonscan.Value, out *agent.Decoded) {
	out.Add(event.ToolProgressed{ID: t.id, Text: event.Quoted(words.Raw())})
	if len(t.output) < maxOutput {
		t.output = jsonscan.AppendUnquoted(t.output, words.Raw())
	}
}

// terminalOutput finds what was printed where an agent shows a terminal of its own (pi-acp 0.0.34,
// codex-acp 2.6.0).
func terminalOutput(meta jsonscan.Value) jsonscan.Value {
	if data := meta.Get("terminal_output", "data"); data.IsString() {
		return data
	}
	return meta.Get("terminal_output_delta", "data")
}

// output returns what a tool came to: the tool's own answer if that is text, since content is made
// for people to look at (fenced, or among words about it), else the content, else an error's
// message, else what was printed.
func output(t *tool, u update, out *agent.Decoded) event.Text {
	if text := textIn(u.Get("rawOutput"), "output", "content", "stdout"); text != nil {
		return text
	}
	if words := contentText(u.content, out); words != nil {
		return words
	}
	if text := textIn(u.Get("rawOutput"), "error", "message"); text != nil {
		return text
	}
	if len(t.output) > 0 {
		return out.Plain(t.output)
	}
	if raw := u.Get("rawOutput"); raw.IsObject() || raw.IsArray() {
		return out.Plain(raw.Raw())
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

// contentText joins the texts of a tool's content, nil if there is none. Other content is named.
func contentText(content jsonscan.Value, out *agent.Decoded) event.Text {
	return out.Join(content, func(part jsonscan.Value) ([]byte, bool) {
		switch string(part.Get("type").Inner()) {
		case "content":
			if text := part.Get("content", "text"); text.IsString() {
				return text.Inner(), true
			}
			kind := part.Get("content", "type")
			return []byte("[" + string(kind.Inner()) + "]"), kind.IsString()
		case "diff":
			path := part.Get("path")
			return []byte("[diff of " + string(path.Inner()) + "]"), path.IsString()
		}
		return nil, false
	})
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
