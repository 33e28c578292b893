package pi

import (
	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// tool is one call, from its start until the model is given its result.
type tool struct {
	id       string
	returned bool
	shown    prefix // the output as pi last told it
	// window is the end of that output. pi 1.5.2 tells at most the last 50 KB, so
	// it usually is all of it.
	window []byte
}

const (
	windowSize = 128 << 10 // pi's 50 KB as JSON spells them, with much to escape
	maxTools   = 1024      // calls that run at a time; far more than a model makes
)

// toolOf returns the state of a call; known says that it was there before.
func (d *Dialect) toolOf(id jsonscan.Value) (t *tool, known bool) {
	if t, known = d.tools[string(id.Inner())]; known {
		return t, true
	}
	if len(d.tools) >= maxTools {
		clear(d.tools)
	}
	t = &tool{id: id.Text()}
	t.shown.reset()
	d.tools[string(id.Inner())] = t
	return t, false
}

func (d *Dialect) toolStart(m jsonscan.Value, out *agent.Decoded) {
	t, _ := d.toolOf(m.Get("toolCallId"))
	called := event.ToolCalled{ID: t.id, Name: m.Get("toolName").Text(), Input: m.Get("args").Raw()}
	called.Parent = m.Get("parentToolCallId").Text()
	out.Add(called)
	d.calls.Called(agent.Call{ID: t.id, Parent: called.Parent})
}

// toolUpdate turns the output so far, which pi repeats up to ten times a second,
// into what is new of it.
func (d *Dialect) toolUpdate(m jsonscan.Value, out *agent.Decoded) {
	out.DropRaw = true
	t, _ := d.toolOf(m.Get("toolCallId"))
	now := inner(d.resultText(m.Get("partialResult")))
	now = now[:len(now)-len(highSurrogate(now))] // half a character may be a whole one next time
	if len(now) == 0 && t.shown.size == 0 {
		return
	}
	var news []byte
	replaced := false
	if t.shown.of(now) {
		news = now[t.shown.size:]
		t.shown.grow(news)
	} else {
		at, ok := seam(t.window, now)
		news, replaced = now[at:], !ok
		t.shown.reset()
		t.shown.grow(now)
	}
	from := max(0, len(now)-windowSize)
	for midEscape(now, from) {
		from++
	}
	t.window = append(t.window[:0], now[from:]...)
	if len(news) > 0 || replaced {
		out.Add(event.ToolProgressed{ID: t.id, Text: event.Quoted(d.quote(news)), Replaced: replaced})
	}
}

func (d *Dialect) toolEnd(m jsonscan.Value, out *agent.Decoded) {
	t, _ := d.toolOf(m.Get("toolCallId"))
	t.returned, t.window = true, nil
	out.Add(event.ToolReturned{
		ID:     t.id,
		OK:     !m.Get("isError").IsTrue(),
		Output: event.Quoted(d.resultText(m.Get("result"))),
		Took:   number(m.Get("durationMs")),
	})
	d.over(t.id, out)
}

// over notes that a call has returned, and with it what was called under it.
func (d *Dialect) over(id string, out *agent.Decoded) {
	d.calls.Returned(id)
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
	out.Add(event.ToolReturned{
		ID:     t.id,
		OK:     !message.Get("isError").IsTrue(),
		Output: event.Quoted(d.resultText(message)),
		Took:   number(message.Get("durationMs")),
	})
	d.over(t.id, out)
}

// resultText returns the text parts of a result's content as one string value.
func (d *Dialect) resultText(result jsonscan.Value) []byte {
	if result.IsString() {
		return result.Raw()
	}
	content := result.Get("content")
	if content.IsString() {
		return content.Raw()
	}
	var only jsonscan.Value
	start, n := len(d.scratch), 0
	for part := range content.Items() {
		if !part.Get("type").Is("text") {
			continue
		}
		value := part.Get("text")
		if !value.IsString() {
			continue
		}
		switch n++; n {
		case 1:
			only = value
			continue
		case 2:
			d.scratch = append(append(d.scratch, '"'), only.Inner()...)
		}
		d.scratch = append(append(d.scratch, `\n`...), value.Inner()...)
	}
	if n < 2 {
		return only.Raw()
	}
	d.scratch = append(d.scratch, '"')
	return d.scratch[start:len(d.scratch):len(d.scratch)]
}
