package pi

import (
	"bytes"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// tool is one call, from its start until the model is given its result.
type tool struct {
	id       string
	returned bool
	shown    []byte // the output as it was last: at most the last 50 KB, in 1.5.2
}

const maxTools = 1024 // calls that run at a time; far more than a model makes

// toolOf returns the state of a call; known says that it was there before.
func (d *Dialect) toolOf(id jsonscan.Value) (t *tool, known bool) {
	if t, known = d.tools[string(id.Inner())]; known {
		return t, true
	}
	if len(d.tools) >= maxTools {
		clear(d.tools)
	}
	t = &tool{id: id.Text()}
	d.tools[string(id.Inner())] = t
	return t, false
}

func (d *Dialect) toolStart(m jsonscan.Value, out *agent.Decoded) {
	d.turn.worked()
	t, _ := d.toolOf(m.Get("toolCallId"))
	d.calls.Called(out, event.ToolCalled{
		ID: t.id, Name: m.Get("toolName").Text(), Input: m.Get("args").Raw(), Parent: m.Get("parentToolCallId").Text(),
	})
}

// toolUpdate reports what is new of the output, which pi repeats up to ten times a second.
func (d *Dialect) toolUpdate(m jsonscan.Value, out *agent.Decoded) {
	out.DropRaw = true
	t, _ := d.toolOf(m.Get("toolCallId"))
	now := resultText(m.Get("partialResult"), out).AppendTo(nil)
	now = bytes.TrimSuffix(now, []byte("\uFFFD")) // half a character may be complete next time
	if len(now) == 0 && len(t.shown) == 0 {
		return
	}
	news, continues := bytes.CutPrefix(now, t.shown)
	if !continues {
		var at int
		at, continues = seam(t.shown, now)
		news = now[at:]
	}
	t.shown = now
	if len(news) > 0 || !continues {
		out.Add(event.ToolProgressed{ID: t.id, Text: out.Plain(news), Replaced: !continues})
	}
}

func (d *Dialect) toolEnd(m jsonscan.Value, out *agent.Decoded) {
	t, _ := d.toolOf(m.Get("toolCallId"))
	t.returned, t.shown = true, nil
	d.over(t.id, m, m.Get("result"), out)
}

// over reports that a call has returned, and with it what was called under it.
func (d *Dialect) over(id string, m, result jsonscan.Value, out *agent.Decoded) {
	d.calls.Returned(out, event.ToolReturned{
		ID: id, OK: !m.Get("isError").IsTrue(), Output: resultText(result, out), Took: agent.Int(m.Get("durationMs")),
	})
	d.calls.Lose(out, func(c agent.Call) bool { return c.Parent == id && id != "" })
}

// toolResult reads the message that gives a tool's output to the model. It says
// again what tool_execution_end said, unless the call was never executed.
func (d *Dialect) toolResult(message jsonscan.Value, out *agent.Decoded) {
	id := message.Get("toolCallId")
	t, known := d.toolOf(id)
	delete(d.tools, string(id.Inner())) // nothing follows of this call
	if known && t.returned {
		out.DropRaw = true
		return
	}
	if !known {
		out.Add(event.ToolCalled{ID: t.id, Name: message.Get("toolName").Text()})
	}
	d.over(t.id, message, message, out)
}

// resultText returns the text parts of a result's content as one string value.
func resultText(result jsonscan.Value, out *agent.Decoded) event.Text {
	content := result.Get("content")
	for _, text := range []jsonscan.Value{result, content} {
		if text.IsString() {
			return event.Quoted(text.Raw())
		}
	}
	only := content.Item(0)
	if text := only.Get("text"); !content.Item(1).Exists() && only.Get("type").Is("text") && text.IsString() {
		return event.Quoted(text.Raw())
	}
	return out.Join(content, func(part jsonscan.Value) ([]byte, bool) {
		text, ok := agent.TextPart(part)
		return text, ok && part.Get("type").Is("text")
	})
}
