package codex

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// item is one thing that happens in a turn. The app-server names its members likeThis, exec
// like_this.
type item struct {
	jsonscan.Value
	kind, id jsonscan.Value
}

func itemOf(value jsonscan.Value) item { return item{value, value.Get("type"), value.Get("id")} }

// get returns the first of these members that is not null.
func (it item) get(names ...string) jsonscan.Value {
	for _, name := range names {
		if value := it.Get(name); value.Exists() && !value.IsNull() {
			return value
		}
	}
	return jsonscan.Value{}
}

// name returns the name of the tool that an item uses, "" if it uses none. Commands and patches
// have the names by which the model knows their tools, tools of MCP servers their usual form.
func (it item) name() string {
	switch kind := string(it.kind.Inner()); kind {
	case "mcpToolCall", "mcp_tool_call":
		return "mcp__" + it.get("server", "namespace").Text() + "__" + it.get("tool").Text()
	case "dynamicToolCall", "collabAgentToolCall", "collab_tool_call":
		return it.get("tool").Text()
	default:
		return toolNames[kind]
	}
}

var toolNames = map[string]string{
	"commandExecution": "exec_command", "command_execution": "exec_command",
	"fileChange": "apply_patch", "file_change": "apply_patch",
	"webSearch": "web_search", "web_search": "web_search",
	"imageView": "view_image", "image_view": "view_image",
	"imageGeneration": "image_generation", "image_generation": "image_generation",
	"sleep": "sleep",
}

// input returns the input of the tool as JSON, nil if nothing is known of it.
func (it item) input() []byte {
	if arguments := it.get("arguments"); arguments.Exists() {
		return arguments.Raw()
	}
	var input []byte
	if command := it.get("command"); command.Exists() {
		text := command.Raw()
		if script, ok := scriptOf(command.Text()); ok {
			text = jsonscan.AppendString(nil, script)
		}
		input = fmt.Appendf(input, `,"command":%s`, text)
	}
	for _, member := range []struct {
		name  string
		value jsonscan.Value
	}{
		{"cwd", it.get("cwd")}, {"changes", it.get("changes")}, {"query", it.get("query")},
		{"action", it.get("action")}, {"path", it.get("path")}, {"prompt", it.get("prompt", "revisedPrompt")},
		{"agents", it.receivers()},
	} {
		if member.value.Exists() {
			input = fmt.Appendf(input, `,%q:%s`, member.name, member.value.Raw())
		}
	}
	if input == nil {
		return nil
	}
	input[0] = '{'
	return append(input, '}')
}

// shells are the words with which Codex runs what its model writes.
var shells = units.Pattern(`(?s)^(?:/\S*/)?(?:ba|z|da|k)?sh -l?c (.+)$`)

// scriptOf returns what the model wrote of a command that Codex gives to a shell, as one word in
// the quotes of that shell; false for any other.
func scriptOf(command string) (script string, ok bool) {
	found := shells().FindStringSubmatch(command)
	if found == nil {
		return "", false
	}
	var word strings.Builder
	quote := byte(0)
	for rest := found[1]; rest != ""; rest = rest[1:] {
		c := rest[0]
		switch {
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote && quote != 0:
			quote = 0
		case c == '\\' && quote != '\'' && len(rest) > 1 && (quote == 0 || strings.IndexByte("$`\"\\", rest[1]) >= 0):
			rest = rest[1:]
			word.WriteByte(rest[0])
		case quote == 0 && strings.IndexByte(" \t\n;&|<>()$`", c) >= 0, quote == '"' && (c == '$' || c == '`'):
			return "", false // more than one word, or not the text itself
		default:
			word.WriteByte(c)
		}
	}
	return word.String(), quote == 0
}

func (it item) receivers() jsonscan.Value { return it.get("receiverThreadIds", "receiver_thread_ids") }

// ok reports whether the tool succeeded.
func (it item) ok() bool {
	switch string(it.get("status").Inner()) {
	case "failed", "declined":
		return false
	}
	exit := it.get("exitCode", "exit_code")
	return !it.get("error").Exists() && (!exit.Exists() || agent.Int(exit) == 0) && string(it.Get("success").Raw()) != "false"
}

// output returns the output of the tool, as a string value.
func (it item) output(out *agent.Decoded) event.Text {
	for _, text := range []jsonscan.Value{it.Get("error", "message"), it.get("aggregatedOutput", "aggregated_output")} {
		if text.IsString() {
			return event.Quoted(text.Raw())
		}
	}
	result, parts := it.get("result"), it.get("contentItems")
	if !parts.Exists() {
		parts = result.Get("content")
	}
	if joined := out.Join(parts, agent.TextPart); joined != nil || !result.IsObject() {
		return joined
	}
	return out.Plain(result.Raw())
}

func (d *Dialect) itemStarted(p jsonscan.Value, out *agent.Decoded) {
	it := itemOf(p.Get("item"))
	_, parent := d.of(p.Get("threadId"))
	switch {
	case !d.working():
	case it.kind.Is("userMessage"):
		out.DropRaw = true // its end says the same
		d.echoed(it, parent, out)
	case it.kind.Is("agentMessage"), it.kind.Is("reasoning"):
		out.DropRaw = len(it.get("text").Inner()) == 0 && !it.get("summary").Item(0).Exists()
		d.turn.retries = 0
	case it.name() == "web_search" && len(it.get("query").Inner()) == 0: // its end has the query
		out.DropRaw = true
	case it.name() != "":
		d.turn.retries = 0
		d.called(it, parent, out)
	}
	if len(out.Facts) == 0 && !out.DropRaw {
		out.Add(event.AgentNoticed{What: out.Name("item/started ", it.kind)})
	}
}

func (d *Dialect) called(it item, parent string, out *agent.Decoded) {
	if d.calls.Open(out.Text(it.id)) {
		return
	}
	d.calls.Called(out, event.ToolCalled{ID: it.id.Text(), Name: it.name(), Input: it.input(), Parent: parent})
}

func (d *Dialect) itemCompleted(p jsonscan.Value, out *agent.Decoded) {
	it := itemOf(p.Get("item"))
	_, parent := d.of(p.Get("threadId"))
	if d.working() {
		d.completedItem(it, parent, out)
	}
	if len(out.Facts) == 0 && !out.DropRaw {
		out.Notice(out.Name("item/completed ", it.kind), it.get("message"))
	}
}

// completedItem reads an item that is over. Codex may not have reported its beginning.
func (d *Dialect) completedItem(it item, parent string, out *agent.Decoded) {
	switch string(it.kind.Inner()) {
	case "agentMessage", "agent_message":
		m := d.messages.of(it.id, parent, out)
		m.block(speech, 0).End(it.get("text"), out)
		d.messages.close(out, parent)
		d.refusedBy(it, parent)
	case "reasoning":
		m := d.messages.of(it.id, parent, out)
		m.end(summary, it.get("summary"), out)
		m.end(thought, it.get("content"), out)
		if text := it.get("text"); text.IsString() { // exec's
			m.block(summary, 0).End(text, out)
		}
		d.messages.close(out, parent)
	case "contextCompaction", "context_compaction":
		out.Add(event.AgentCompacted{})
	case "todo_list":
		out.Plan(it.get("items"), "text")
	default:
		if it.name() != "" {
			d.called(it, parent, out)
			d.returned(it, out)
		}
	}
}

// refusedBy notes whether our message refuses: one of its parts then says so.
func (d *Dialect) refusedBy(it item, parent string) {
	if parent != "" {
		return
	}
	d.turn.refusal = ""
	for part := range it.get("content").Items() {
		d.turn.refusal = cmp.Or(agent.Refusal(part), d.turn.refusal)
	}
}

// good is the end of a turn without an error: the model may have refused.
func (t *turn) good() event.AgentFinished {
	if t.refusal != "" {
		return agent.Refused(t.refusal)
	}
	return event.AgentFinished{Outcome: "ok"}
}

func (d *Dialect) returned(it item, out *agent.Decoded) {
	d.calls.Returned(out, event.ToolReturned{ID: out.Text(it.id), OK: it.ok(), Output: it.output(out), Took: max(agent.Int(it.get("durationMs")), 0)})
	if it.get("tool").Is("spawnAgent") {
		d.spawned(it.id.Text(), it.receivers())
	}
}

// progressed reports what a tool printed. Its end holds all of it again.
func (d *Dialect) progressed(p jsonscan.Value, out *agent.Decoded) {
	id, text := out.Text(p.Get("itemId")), deltaText(p)
	if !text.IsString() || !d.working() || !d.calls.Open(id) {
		return
	}
	out.DropRaw = true
	if len(text.Inner()) > 0 {
		d.calls.Printed(out, event.ToolProgressed{ID: id, Text: event.Quoted(text.Raw())})
	}
}

// echoed reads a text that the model is given now. Those of ralph are known by the id with which
// they were sent, or by their words if Codex reports no id.
func (d *Dialect) echoed(it item, parent string, out *agent.Decoded) {
	if parent != "" {
		return
	}
	id := it.get("clientId")
	prompt := !d.turn.echoed && (!id.Exists() || id.Says(promptID))
	d.turn.echoed = true
	if prompt {
		return
	}
	words := it.get("content").Item(0).Get("text")
	i := slices.IndexFunc(d.steers, func(s steer) bool { return id.Says(s.command) || !id.Exists() && words.Says(s.text) })
	if i >= 0 {
		out.Add(event.CommandDelivered{ID: d.steers[i].command, How: "live"})
		d.steers = slices.Delete(d.steers, i, i+1)
	}
}
