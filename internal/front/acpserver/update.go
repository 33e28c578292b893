package acpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/phrase"
	"github.com/ralph-loop/ralph/render/transcript"
)

// Who speaks in a piece of a message.
const (
	fromAgent   = "agent_message_chunk"
	fromUser    = "user_message_chunk"
	fromThought = "agent_thought_chunk"
)

// clean returns foreign text without what a terminal would obey.
func clean(text string) string { return string(render.CleanText(text)) }

func textBlock(text string) object { return object{"type": "text", "text": text} }

// chunk is a piece of a message.
func (s *Server) chunk(from, message, text string) object {
	return object{"sessionUpdate": from, "messageId": message, "content": textBlock(text)}
}

// words are words of ralph's own, as a paragraph: not every client separates messages.
func (s *Server) words(message, text string) object {
	return s.chunk(fromAgent, message, "\n\n"+text+"\n\n")
}

// note is something beside the conversation.
func (s *Server) note(seq event.Seq, severity, text string) object {
	if s.speaks().notices {
		return object{"sessionUpdate": "notice", "severity": severity, "title": text}
	}
	return s.words("note-"+seq.String(), text)
}

// shown is what the client has of what may still change. It is bounded: of the oldest it forgets
// what was sent.
type shown struct {
	words map[event.Seq]int    // bytes of a block that were sent
	calls map[event.Seq]string // the last state of a tool or a guardrail
	said  map[event.Seq]string // the last words about an entry
	plan  string
	usage string
	title string
	state string
	asked map[int]bool // questions that the client has
}

// shownKept is how many entries of each kind are remembered.
const shownKept = 1024

func newShown() shown {
	return shown{words: map[event.Seq]int{}, calls: map[event.Seq]string{}, said: map[event.Seq]string{}, asked: map[int]bool{}}
}

// forget drops the older half of what is remembered, if that is too much.
func forget[T any](m map[event.Seq]T) {
	if len(m) <= shownKept {
		return
	}
	for _, seq := range slices.Sorted(maps.Keys(m))[:len(m)/2] {
		delete(m, seq)
	}
}

// show sends what is new of an entry.
func (w *watch) show(e transcript.Entry) {
	switch body := e.Body.(type) {
	case transcript.Words:
		w.speak(e, fromAgent, body)
	case transcript.Thinking:
		w.speak(e, fromThought, transcript.Words(body))
	case transcript.Tools:
		for _, c := range body.Calls {
			w.call("call-"+c.Seq.String(), c.Seq, callOf(c))
		}
	case transcript.Guardrail:
		w.call("guardrail-"+e.Seq.String(), e.Seq, guardrailOf(body))
	case transcript.Message:
		w.message(e, body)
	case transcript.Plan:
		if w.view.Plan == nil {
			w.showPlan(todos(body))
		}
	default:
		w.say(e, wordsOf(e))
	}
}

// speak sends what was added to a block of words.
func (w *watch) speak(e transcript.Entry, from string, body transcript.Words) {
	sent := w.shown.words[e.Seq]
	if sent < len(body.Text) {
		w.x.update(w.x.s.chunk(from, "message-"+e.Seq.String(), body.Text[sent:]))
	}
	if body.Done {
		delete(w.shown.words, e.Seq)
		return
	}
	w.shown.words[e.Seq] = len(body.Text)
	forget(w.shown.words)
}

// say sends words about an entry, if they are others than before.
func (w *watch) say(e transcript.Entry, text string) {
	if text == "" || w.shown.said[e.Seq] == text {
		return
	}
	w.shown.said[e.Seq] = text
	forget(w.shown.said)
	n, isNote := e.Body.(transcript.Note)
	// A client of version 1 that takes notices separates ralph's words from the agent's: for
	// another ralph, the agent's are the last. A client of version 2 may ignore them.
	if w.caught && (isNote || w.x.s.speaks().version == stable) {
		w.x.update(w.x.s.note(e.Seq, severity(n.Tone), text))
		return
	}
	w.x.update(w.x.s.words("note-"+e.Seq.String(), text))
}

func severity(t phrase.Tone) string {
	switch t {
	case phrase.ToneWarning:
		return "warning"
	case phrase.ToneFailure:
		return "error"
	}
	return "info"
}

// message shows what a person sent, unless it is this client's person, who sees it already.
func (w *watch) message(e transcript.Entry, m transcript.Message) {
	if m.Command.IsMessage() && m.Text != "" && !(w.caught && w.x.isOwn(m.ID)) {
		if w.shown.said[e.Seq] == "" {
			w.x.update(w.x.s.chunk(fromUser, cmpID(m.ID, e.Seq), m.Text))
		}
		w.shown.said[e.Seq] = "shown"
		forget(w.shown.said)
	}
	w.say(e, messageWords(e, m, w.x.isOwn(m.ID)))
}

func cmpID(id string, seq event.Seq) string {
	if id == "" {
		return "message-" + seq.String()
	}
	return id
}

// call sends a tool or a guardrail, if it changed.
func (w *watch) call(id string, seq event.Seq, u object) {
	text, err := json.Marshal(u)
	if err != nil {
		return
	}
	before, known := w.shown.calls[seq]
	if before == string(text) {
		return
	}
	w.shown.calls[seq] = string(text)
	forget(w.shown.calls)
	kind := "tool_call_update"
	switch {
	case known: // the rest is as it was
		u = object{"status": u["status"], "content": u["content"]}
	case w.x.s.speaks().version == stable:
		kind = "tool_call"
	}
	u["sessionUpdate"], u["toolCallId"] = kind, id
	w.x.update(u)
}

func content(text string) object { return object{"type": "content", "content": textBlock(text)} }

// statusOf is the state of a tool in ACP's words.
func statusOf(s transcript.State) string {
	switch s {
	case transcript.StateOK:
		return "completed"
	case transcript.StateRunning:
		return "in_progress"
	}
	return "failed"
}

// callOf is a tool in ACP's words.
func callOf(c transcript.Call) object {
	title := c.Name
	if c.About != "" {
		title += " " + units.Cut(c.About, 200)
	}
	u := object{"title": title, "name": c.Name, "kind": kindOf(c), "status": statusOf(c.State)}
	if input := cleanInput(c.Input); input != nil {
		u["rawInput"] = input
	}
	parts := []object{}
	if len(c.Diff) > 0 {
		parts = append(parts, content(diffText(c.Diff)))
	}
	if c.Output != "" {
		parts = append(parts, content(c.Output))
	}
	if c.State == transcript.StateLost {
		parts = append(parts, content("the turn ended before it returned"))
	}
	u["content"] = parts
	return u
}

// kindOf is one of ACP's kinds of tools.
func kindOf(c transcript.Call) string {
	name := strings.ToLower(c.Name)
	switch {
	case len(c.Diff) > 0:
		return "edit"
	case c.Reads:
		return "read"
	case strings.Contains(name, "bash") || strings.Contains(name, "shell") || strings.Contains(name, "exec"):
		return "execute"
	case strings.Contains(name, "fetch"):
		return "fetch"
	case strings.Contains(name, "search"):
		return "search"
	}
	return "other"
}

// diffText is a change as text. ACP's own diff has the complete file before and after, which a
// journal does not have.
func diffText(lines []render.DiffLine) string {
	var text strings.Builder
	text.WriteString("```diff\n")
	for _, l := range lines {
		fmt.Fprintf(&text, "%c%s\n", l.Sign, l.Text)
	}
	text.WriteString("```")
	return text.String()
}

// inputMost is the longest input of a tool that is sent, in bytes.
const inputMost = 32 << 10

// cleanInput is the input of a tool, with clean texts; nil for one that is too long or no JSON.
func cleanInput(input json.RawMessage) any {
	if len(input) == 0 || len(input) > inputMost {
		return nil
	}
	from := json.NewDecoder(bytes.NewReader(input))
	from.UseNumber()
	var v any
	if from.Decode(&v) != nil {
		return nil
	}
	return cleaned(v)
}

func cleaned(v any) any {
	switch v := v.(type) {
	case string:
		return clean(v)
	case []any:
		for i := range v {
			v[i] = cleaned(v[i])
		}
		return v
	case object:
		all := make(object, len(v))
		for key, value := range v {
			all[clean(key)] = cleaned(value)
		}
		return all
	}
	return v
}

// guardrailOf is a guardrail as a tool that ralph uses.
func guardrailOf(g transcript.Guardrail) object {
	u := object{"title": "guardrail: " + units.Cut(g.Name, 200), "kind": "execute", "status": statusOf(g.State), "content": []object{}}
	if g.Output != "" {
		u["content"] = []object{content(g.Output)}
	}
	return u
}
