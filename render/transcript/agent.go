package transcript

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
)

// wordsMost is the size in bytes at which a block continues in a new entry.
const wordsMost = 64 << 10

// words is a block of text that may grow.
type words struct {
	key      string
	thinking bool
	done     bool
	clean    render.Cleaner
	text     strings.Builder // only grows, so that what was taken of it never changes
}

// call is a tool that may still run.
type call struct {
	Call

	item  *item
	clean render.Cleaner
	tail  []byte // the end of what it printed so far
}

// tailKept is how much is kept of the output of a tool that runs.
const tailKept = 8 << 10

// groupMost is how many reading tools one entry has at most.
const groupMost = 100

// ofAgent takes in what the agent says and does.
func (b *Builder) ofAgent(e event.Event, p event.Payload) bool {
	switch p := p.(type) {
	case event.AgentSaid:
		b.said(e, p, false)
	case event.AgentThought:
		b.said(e, event.AgentSaid(p), true)
	case event.ToolCalled:
		b.toolCalled(e, p)
	case event.ToolProgressed:
		b.toolProgressed(e, p)
	case event.ToolReturned:
		b.toolReturned(e, p)
	case event.AgentPlanned:
		b.planned(e, p)
	case event.AgentStarted:
		b.turn, b.answered = 1, false
		return false
	case event.AgentFinished, event.AgentExited:
		b.settle(e)
		return false
	default:
		return false
	}
	return true
}

// model counts the turns: the model answers again after a tool has returned.
func (b *Builder) model(parent string) {
	if parent == "" && b.answered {
		b.answered = false
		b.turn++
	}
}

func (b *Builder) said(e event.Event, p event.AgentSaid, thinking bool) {
	b.model(p.Parent)
	key := string(e.Type) + "\x00" + p.Block
	it := b.blocks[key]
	if it != nil && it.words.text.Len() >= wordsMost {
		b.closeWords(it, e)
		it = nil
	}
	b.scratch = p.Text.AppendTo(b.scratch[:0])
	text := b.scratch
	if it == nil {
		if len(bytes.TrimSpace(text)) == 0 {
			return
		}
		it = b.begin(e, Words{})
		it.Parent, it.words = p.Parent, &words{key: key, thinking: thinking}
		if len(b.blocks) >= blocksKept {
			clear(b.blocks)
		}
		b.blocks[key] = it
	}
	if len(text) > 0 {
		b.cleaned = it.words.clean.Append(b.cleaned[:0], text)
		it.words.text.Write(b.cleaned)
		b.touch(it, e)
	}
	if p.Final {
		b.closeWords(it, e)
	}
}

func (b *Builder) closeWords(it *item, e event.Event) {
	it.words.done = true
	b.touch(it, e)
	delete(b.blocks, it.words.key)
}

// toolCalled begins an entry, or continues one of tools that only read.
func (b *Builder) toolCalled(e event.Event, p event.ToolCalled) {
	b.model(p.Parent)
	c := &call{Call: Call{
		Seq: e.Seq, ID: p.ID, Name: render.Clean(p.Name), About: b.within(render.Summary(p.Input)), Paths: paths(p.Input),
		Input: bytes.Clone(p.Input), Diff: cleanDiff(render.Diff(p.Input)), Reads: reads[strings.ToLower(p.Name)],
		State: StateRunning, Began: e.At,
	}}
	if !b.joins(c, p.Parent) {
		it := b.begin(e, Tools{})
		it.Parent = p.Parent
	}
	b.addCall(b.newest, c, e)
}

// joins reports whether a call continues the newest entry.
func (b *Builder) joins(c *call, parent string) bool {
	it := b.newest
	if it == nil || !c.Reads || it.Parent != parent || len(it.calls) == 0 || len(it.calls) >= groupMost {
		return false
	}
	return it.calls[len(it.calls)-1].Reads
}

func (b *Builder) addCall(it *item, c *call, e event.Event) {
	c.item = it
	it.calls = append(it.calls, c)
	if len(b.calls) >= callsKept {
		clear(b.calls)
	}
	b.calls[c.ID] = c
	b.touch(it, e)
}

func (b *Builder) toolProgressed(e event.Event, p event.ToolProgressed) {
	c := b.calls[p.ID]
	if c == nil {
		return
	}
	if p.Replaced {
		c.tail = nil
		c.clean.Reset()
	}
	b.scratch = p.Text.AppendTo(b.scratch[:0])
	c.tail = c.clean.Append(c.tail, b.scratch)
	if n := len(c.tail) - tailKept; n > tailKept {
		for n < len(c.tail) && !utf8.RuneStart(c.tail[n]) {
			n++
		}
		c.tail = append(c.tail[:0], c.tail[n:]...)
	}
	b.touch(c.item, e)
}

func (b *Builder) toolReturned(e event.Event, p event.ToolReturned) {
	b.answered = b.answered || b.calls[p.ID] == nil || b.calls[p.ID].item.Parent == ""
	c := b.calls[p.ID]
	if c == nil { // it was called before the first event
		c = &call{Call: Call{Seq: e.Seq, ID: p.ID, Name: "a tool that was called before"}}
		b.addCall(b.begin(e, Tools{}), c, e)
	}
	delete(b.calls, p.ID)
	c.Returned, c.State = e.Seq, StateOK
	if !p.OK {
		c.State = StateFailed
	}
	if c.Took = time.Duration(p.Took) * time.Millisecond; c.Took == 0 && !c.Began.IsZero() {
		c.Took = e.At.Sub(c.Began)
	}
	output := p.Output.AppendTo(nil)
	c.Size, c.Blob, c.tail = max(p.Bytes, len(output)), p.Blob, nil
	c.Output = clean(string(output))
	b.touch(c.item, e)
}

// snapshot returns the call as it is now.
func (c *call) snapshot() Call {
	now := c.Call
	if now.State == StateRunning {
		now.Output, now.Size = string(c.tail), len(c.tail)
	}
	return now
}

// settle ends what cannot change after a turn.
func (b *Builder) settle(e event.Event) {
	for _, it := range b.blocks {
		b.closeWords(it, e)
	}
	for _, c := range b.calls {
		c.State, c.Took, c.Output = StateLost, e.At.Sub(c.Began), string(c.tail)
		b.touch(c.item, e)
	}
	clear(b.calls)
}

// planned keeps one entry for changes of the list in a row.
func (b *Builder) planned(e event.Event, p event.AgentPlanned) {
	if len(p.Todos) == 0 {
		return
	}
	plan := Plan{Todos: make([]event.Todo, len(p.Todos))}
	for i, t := range p.Todos {
		plan.Todos[i] = event.Todo{Text: render.Clean(t.Text), Status: word(t.Status)}
	}
	if b.newest != nil {
		if _, last := b.newest.Body.(Plan); last && b.newest.Iteration == e.Iter {
			b.newest.Body = plan
			b.touch(b.newest, e)
			return
		}
	}
	b.begin(e, plan)
}

// within makes a path in the project relative to it.
func (b *Builder) within(about string) string {
	if b.project == "" {
		return about
	}
	return strings.TrimPrefix(about, render.Clean(b.project)+"/")
}

// reads are the tools that change nothing, as the agents name them: Claude Code 2, pi 0.87, Codex,
// and common MCP servers.
var reads = map[string]bool{
	"read": true, "read_file": true, "readfile": true, "view": true, "notebookread": true, "grep": true, "glob": true, "ls": true,
	"list": true, "list_dir": true, "find": true, "search": true, "websearch": true, "web_search": true, "webfetch": true, "web_fetch": true,
}

// paths returns the files that a tool's input names.
func paths(input []byte) (paths []string) {
	if !jsonscan.IsObject(input) {
		return nil
	}
	for _, key := range []string{"file_path", "path", "filePath", "notebook_path"} {
		if value := jsonscan.Get(input, key); jsonscan.IsString(value) {
			paths = append(paths, render.Clean(jsonscan.Unquote(value)))
		}
	}
	return append(paths, changedPaths(jsonscan.Get(input, "changes"))...)
}

func cleanDiff(lines []render.DiffLine) []render.DiffLine {
	for i := range lines {
		lines[i].Text = string(render.CleanText(lines[i].Text))
	}
	return lines
}
