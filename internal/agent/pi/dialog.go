package pi

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// extensionUI answers what an extension asks of the person at the terminal, at
// once: an open dialog blocks pi for ever, and an abort does not resolve it. A
// method of a later pi is answered too, since pi ignores an answer that it
// does not wait for.
func (d *Dialect) extensionUI(m *members, out *agent.Decoded) {
	method := text(m.get("method"))
	switch method {
	case "notify", "setStatus", "setWidget", "setTitle", "set_editor_text":
		out.Add(event.AgentNoticed{What: method, Text: firstText(m, "message", "statusText", "title", "text")})
		return
	}
	id := m.get("id")
	if id == nil {
		out.Add(event.AgentNoticed{What: "extension_ui_request " + method})
		return
	}
	reply := append([]byte(nil), `{"type":"extension_ui_response","id":`...)
	reply = append(append(reply, id...), `,"cancelled":true}`...)
	out.Reply = append(out.Reply, reply)
	out.Add(event.AgentAsked{What: question(method, m), Answer: "cancelled"})
}

// question puts a dialog into one line: `select: Allow? (Allow, Block)`.
func question(method string, m *members) string {
	words := []string{method + ": " + text(m.get("title"))}
	if message := text(m.get("message")); message != "" {
		words = append(words, message)
	}
	var options []string
	items := jsonscan.Array(m.get("options"))
	for item, ok := items.Next(); ok; item, ok = items.Next() {
		options = append(options, text(item))
	}
	if options != nil {
		words = append(words, "("+strings.Join(options, ", ")+")")
	}
	return strings.Join(words, " ")
}

func firstText(m *members, keys ...string) string {
	for _, key := range keys {
		if s := text(m.get(key)); s != "" {
			return s
		}
	}
	return ""
}
