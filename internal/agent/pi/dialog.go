package pi

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// extensionUI answers what an extension asks of the person at the terminal, at once: an open dialog
// blocks pi without end, and an abort does not resolve it. A method of a later pi is answered too,
// since pi ignores an answer that it does not wait for.
func (d *Dialect) extensionUI(m jsonscan.Value, out *agent.Decoded) {
	method := m.Get("method").Text()
	switch method {
	case "notify", "setStatus", "setWidget", "setTitle", "set_editor_text":
		out.Add(event.AgentNoticed{What: method, Text: agent.FirstText(m, "message", "statusText", "title", "text")})
		return
	}
	id := m.Get("id")
	if !id.Exists() {
		out.Add(event.AgentNoticed{What: "extension_ui_request " + method})
		return
	}
	out.Reply = append(out.Reply, fmt.Appendf(nil, `{"type":"extension_ui_response","id":%s,"cancelled":true}`, id.Raw()))
	out.Add(event.AgentAsked{What: question(method, m), Answer: "cancelled"})
}

// question puts a dialog into one line: `select: Allow? (Allow, Block)`.
func question(method string, m jsonscan.Value) string {
	words := []string{method + ": " + m.Get("title").Text()}
	if message := m.Get("message").Text(); message != "" {
		words = append(words, message)
	}
	if options := agent.Texts(m.Get("options"), -1); options != nil {
		words = append(words, "("+strings.Join(options, ", ")+")")
	}
	return strings.Join(words, " ")
}
