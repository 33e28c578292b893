package codex

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// item is one thing that happens in a turn. The app-server spells its members like this, exec like_this.
type item struct {
	kind, id                      jsonscan.Value
	text, summary, content        jsonscan.Value
	command, cwd, output, exit    jsonscan.Value
	status, took, changes, result jsonscan.Value
	server, tool, arguments       jsonscan.Value
	query, action, failure        jsonscan.Value
	prompt, receivers, path       jsonscan.Value
	clientID, items, message      jsonscan.Value
	success, parts                jsonscan.Value
}

// read takes over the members of an item.
func (it *item) read(value jsonscan.Value) {
	for key, value := range value.Members() {
		if value.IsNull() {
			continue
		}
		switch string(key) {
		case "type":
			it.kind = value
		case "id":
			it.id = value
		case "text":
			it.text = value
		case "summary":
			it.summary = value
		case "content":
			it.content = value
		case "command":
			it.command = value
		case "cwd":
			it.cwd = value
		case "aggregatedOutput", "aggregated_output":
			it.output = value
		case "exitCode", "exit_code":
			it.exit = value
		case "status":
			it.status = value
		case "durationMs":
			it.took = value
		case "changes":
			it.changes = value
		case "result":
			it.result = value
		case "contentItems":
			it.parts = value
		case "success":
			it.success = value
		case "server", "namespace":
			it.server = value
		case "tool":
			it.tool = value
		case "arguments":
			it.arguments = value
		case "query":
			it.query = value
		case "action":
			it.action = value
		case "error":
			it.failure = value
		case "prompt", "revisedPrompt":
			it.prompt = value
		case "receiverThreadIds", "receiver_thread_ids":
			it.receivers = value
		case "path":
			it.path = value
		case "clientId":
			it.clientID = value
		case "items":
			it.items = value
		case "message":
			it.message = value
		}
	}
}

// name is the tool that an item is the use of, and "" where it is none. Commands and patches have the names that the model
// knows their tools by, those of other servers the form that is usual for them.
func (it *item) name() string {
	switch string(it.kind.Inner()) {
	case "commandExecution", "command_execution":
		return "exec_command"
	case "fileChange", "file_change":
		return "apply_patch"
	case "mcpToolCall", "mcp_tool_call":
		return "mcp__" + it.server.Text() + "__" + it.tool.Text()
	case "dynamicToolCall", "collabAgentToolCall", "collab_tool_call":
		return it.tool.Text()
	case "webSearch", "web_search":
		return "web_search"
	case "imageView", "image_view":
		return "view_image"
	case "imageGeneration", "image_generation":
		return "image_generation"
	case "sleep":
		return "sleep"
	}
	return ""
}

// input is what the tool was given, as JSON in the scratch memory; nil where nothing is known of it.
func (d *Dialect) toolInput(it *item) []byte {
	if it.arguments.Exists() {
		return it.arguments.Raw()
	}
	start := len(d.scratch)
	for _, member := range []struct {
		name  string
		value jsonscan.Value
	}{
		{"command", it.command}, {"cwd", it.cwd}, {"changes", it.changes}, {"query", it.query}, {"action", it.action},
		{"path", it.path}, {"prompt", it.prompt}, {"agents", it.receivers},
	} {
		if !member.value.Exists() {
			continue
		}
		begin := byte(',')
		if len(d.scratch) == start {
			begin = '{'
		}
		d.scratch = append(append(append(d.scratch, begin, '"'), member.name...), `":`...)
		d.scratch = append(d.scratch, member.value.Raw()...)
	}
	if len(d.scratch) == start {
		return nil
	}
	d.scratch = append(d.scratch, '}')
	return d.scratch[start:len(d.scratch):len(d.scratch)]
}

// ok reports whether the tool did what it was to do.
func (it *item) ok() bool {
	switch string(it.status.Inner()) {
	case "failed", "declined":
		return false
	}
	return !it.failure.Exists() && (!it.exit.Exists() || number(it.exit) == 0) && string(it.success.Raw()) != "false"
}

// toolOutput is what the tool gave back, as a string value.
func (d *Dialect) toolOutput(it *item) event.Text {
	if said := it.failure.Get("message"); said.IsString() {
		return event.Quoted(said.Raw())
	}
	if it.output.IsString() {
		return event.Quoted(it.output.Raw())
	}
	parts := it.parts
	if !parts.Exists() {
		parts = it.result.Get("content")
	}
	if joined := d.joined(parts); joined != nil {
		return event.Quoted(joined)
	}
	if it.result.IsObject() {
		return event.Text(jsonscan.AppendStringBytes(nil, it.result.Raw()))
	}
	return nil
}

// joined joins the text parts of a list with newlines, nil where there are none.
func (d *Dialect) joined(list jsonscan.Value) []byte {
	start := len(d.scratch)
	for part := range list.Items() {
		said := part.Get("text")
		if !said.IsString() {
			continue
		}
		if len(d.scratch) == start {
			d.scratch = append(d.scratch, '"')
		} else {
			d.scratch = append(d.scratch, `\n`...)
		}
		d.scratch = append(d.scratch, said.Inner()...)
	}
	if len(d.scratch) == start {
		return nil
	}
	d.scratch = append(d.scratch, '"')
	return d.scratch[start:len(d.scratch):len(d.scratch)]
}

func (d *Dialect) itemStarted(p *params, out *agent.Decoded) {
	var it item
	it.read(p.item)
	_, parent := d.of(p.thread)
	switch {
	case !d.working():
	case it.kind.Is("userMessage"):
		out.DropRaw = true // its end says the same
		d.echoed(&it, parent, out)
	case it.kind.Is("agentMessage"), it.kind.Is("reasoning"):
		out.DropRaw = len(it.text.Inner()) == 0 && !it.summary.Item(0).Exists() // what it begins with need not come again
		d.turn.retries = 0
	case it.name() == "web_search" && len(it.query.Inner()) == 0: // what is looked for is known at its end
		out.DropRaw = true
	case it.name() != "":
		d.turn.retries = 0
		d.called(&it, parent, out)
	}
	if len(out.Facts) == 0 && !out.DropRaw {
		out.Add(event.AgentNoticed{What: out.Name("item/started ", it.kind)})
	}
}

func (d *Dialect) called(it *item, parent string, out *agent.Decoded) {
	if d.calls.Open(out.Text(it.id)) {
		return
	}
	call := agent.Call{ID: it.id.Text(), Parent: parent}
	d.calls.Called(call)
	out.Add(event.ToolCalled{ID: call.ID, Name: it.name(), Input: d.toolInput(it), Parent: parent})
}

func (d *Dialect) itemCompleted(p *params, out *agent.Decoded) {
	var it item
	it.read(p.item)
	_, parent := d.of(p.thread)
	if d.working() {
		d.completedItem(&it, parent, out)
	}
	if len(out.Facts) == 0 && !out.DropRaw {
		out.Notice(out.Name("item/completed ", it.kind), it.message)
	}
}

// completedItem takes an item that is over. What it is may not have been told before.
func (d *Dialect) completedItem(it *item, parent string, out *agent.Decoded) {
	switch string(it.kind.Inner()) {
	case "agentMessage", "agent_message":
		m := d.messages.of(it.id, parent, out)
		d.whole(m, speech, 0, it.text, out)
		d.messages.done(m)
	case "reasoning":
		m := d.messages.of(it.id, parent, out)
		d.texts(m, summary, it.summary, out)
		d.texts(m, thought, it.content, out)
		d.whole(m, summary, 0, it.text, out) // exec's
		m.close(out)
		d.messages.done(m)
	case "contextCompaction", "context_compaction":
		out.Add(event.AgentCompacted{})
	case "todo_list":
		d.todos(it.items, out)
	default:
		if it.name() != "" {
			d.called(it, parent, out)
			d.returned(it, out)
		}
	}
}

func (d *Dialect) returned(it *item, out *agent.Decoded) {
	id := out.Text(it.id)
	out.Add(event.ToolReturned{ID: id, OK: it.ok(), Output: d.toolOutput(it), Took: max(number(it.took), 0)})
	d.calls.Returned(id)
	if it.tool.Is("spawnAgent") {
		d.spawned(it.id.Text(), it.receivers)
	}
}

// progressed reports what a tool printed. Its end holds all of it again.
func (d *Dialect) progressed(p *params, out *agent.Decoded) {
	id := out.Text(p.itemID)
	if !p.delta.IsString() || !d.working() || !d.calls.Open(id) {
		return
	}
	out.DropRaw = true
	if len(p.delta.Inner()) > 0 {
		out.Add(event.ToolProgressed{ID: id, Text: event.Quoted(p.delta.Raw())})
	}
}

// echoed: a text that the model is given now. Ours are known by the id that they were sent with, or by their words
// where Codex does not tell it.
func (d *Dialect) echoed(it *item, parent string, out *agent.Decoded) {
	if parent != "" {
		return
	}
	prompt := !d.turn.told && (!it.clientID.Exists() || it.clientID.Says(promptID))
	d.turn.told = true
	if prompt {
		return
	}
	words := it.content.Item(0).Get("text")
	for i, s := range d.steers {
		if it.clientID.Says(s.command) || !it.clientID.Exists() && words.Says(s.text) {
			d.steers = slices.Delete(d.steers, i, i+1)
			out.Add(event.CommandDelivered{ID: s.command, How: "live"})
			return
		}
	}
}

// todos takes exec's list of things to do.
func (d *Dialect) todos(list jsonscan.Value, out *agent.Decoded) {
	var todos []event.Todo
	for it := range list.Items() {
		status := "pending"
		if it.Get("completed").IsTrue() {
			status = "done"
		}
		todos = append(todos, event.Todo{Text: it.Get("text").Text(), Status: status})
	}
	out.Add(event.AgentPlanned{Todos: todos})
}
