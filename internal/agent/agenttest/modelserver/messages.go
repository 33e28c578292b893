package modelserver

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// messagesWire is Anthropic's messages, as Claude Code 2.1.329 and pi 0.87.1 (api
// "anthropic-messages") use it.
type messagesWire struct{}

func (messagesWire) read(body []byte, r *Request) error {
	var q struct {
		Model    string  `json:"model"`
		Stream   bool    `json:"stream"`
		System   content `json:"system"`
		Messages []struct {
			// Claude Code 2.1.329 says "system" in the middle of a conversation
			Role    string  `json:"role"`
			Content content `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name        string          `json:"name"`
			InputSchema json.RawMessage `json:"input_schema"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return fmt.Errorf("read a messages request: %w", err)
	}
	r.Model, r.Stream = q.Model, q.Stream
	if len(q.System) > 0 {
		r.Messages = say(r.Messages, Message{Role: System, Text: q.System.text()})
	}
	for _, m := range q.Messages {
		r.Messages = sayParts(r.Messages, roleOf(m.Role), m.Content)
	}
	for _, t := range q.Tools {
		r.Tools = append(r.Tools, Tool{Name: t.Name, Schema: t.InputSchema})
	}
	return nil
}

// sayParts takes the outputs of tools out of the user's message that wraps them.
func sayParts(conversation []Message, role Role, parts content) []Message {
	if len(parts) == 0 {
		return say(conversation, Message{Role: role})
	}
	var words content
	var calls []Call
	flush := func() {
		if words != nil || calls != nil {
			conversation = say(conversation, Message{Role: role, Text: words.text(), Calls: calls})
		}
		words, calls = nil, nil
	}
	for _, p := range parts {
		switch p.Type {
		case "tool_result":
			flush()
			conversation = say(conversation, Message{Role: ToolOutput, Text: p.Content.text()})
		case "tool_use":
			calls = append(calls, Call{Name: p.Name, Args: decodeArgs(string(p.Input))})
		default:
			words = append(words, p)
		}
	}
	flush()
	return conversation
}

func (w messagesWire) stream(a answer) []sse {
	var events []sse
	emit := func(kind string, fields object, piece bool) {
		fields["type"] = kind
		events = append(events, sse{name: kind, data: fields, piece: piece})
	}
	// The input is counted at the start, the output at the end; the 1 is what the API reports
	// before there is any.
	begun := w.envelope(a, []object{}, nil)
	begun["usage"] = w.usage(Usage{In: a.usage.In, Out: 1, CacheRead: a.usage.CacheRead, CacheWrite: a.usage.CacheWrite})
	emit("message_start", object{"message": begun}, false)

	for i, block := range w.blocks(a) {
		delta := func(d object, piece bool) { emit("content_block_delta", object{"index": i, "delta": d}, piece) }
		emit("content_block_start", object{"index": i, "content_block": block.begun}, false)
		switch block.whole["type"] {
		case "text":
			for _, p := range a.text {
				delta(object{"type": "text_delta", "text": p}, true)
			}
		case "tool_use":
			delta(object{"type": "input_json_delta", "partial_json": block.args}, true)
		}
		emit("content_block_stop", object{"index": i}, false)
	}
	emit("message_delta", object{"delta": object{"stop_reason": w.stopReason(a), "stop_sequence": nil}, "usage": w.usage(a.usage)}, false)
	emit("message_stop", object{}, false)
	return events
}

func (w messagesWire) whole(a answer) any {
	blocks := []object{}
	for _, b := range w.blocks(a) {
		blocks = append(blocks, b.whole)
	}
	message := w.envelope(a, blocks, w.stopReason(a))
	message["usage"] = w.usage(a.usage)
	return message
}

// A block is one part of the content, as it is announced and as it is when complete.
type block struct {
	begun, whole object
	args         string // of tool_use
}

func (messagesWire) blocks(a answer) []block {
	var blocks []block
	if len(a.text) > 0 {
		blocks = append(blocks, block{
			begun: object{"type": "text", "text": ""},
			whole: object{"type": "text", "text": join(a.text)},
		})
	}
	for _, c := range a.calls {
		id := "toolu_" + c.id
		blocks = append(blocks, block{
			begun: object{"type": "tool_use", "id": id, "name": c.name, "input": object{}},
			whole: object{"type": "tool_use", "id": id, "name": c.name, "input": decodeArgs(c.args)},
			args:  c.args,
		})
	}
	return blocks
}

func (messagesWire) envelope(a answer, blocks []object, stopReason any) object {
	return object{
		"id": a.id("msg"), "type": "message", "role": "assistant", "model": a.request.Model,
		"content": blocks, "stop_reason": stopReason, "stop_sequence": nil,
	}
}

func (messagesWire) stopReason(a answer) string {
	switch {
	case a.refused:
		return "refusal"
	case a.cutoff:
		return "max_tokens"
	case len(a.calls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

func (messagesWire) usage(u Usage) object {
	return object{
		"input_tokens": u.In, "output_tokens": u.Out,
		"cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite,
	}
}

func (messagesWire) failure(status int, message string) any {
	kinds := map[int]string{403: "permission_error", 404: "not_found_error", 529: "overloaded_error"}
	kind := cmp.Or(kinds[status], errorKind(status, "api_error"))
	return object{"type": "error", "error": object{"type": kind, "message": message}}
}
