package modelserver

import (
	"encoding/json"
	"fmt"
	"strings"
)

// responsesWire is OpenAI's responses, as pi 0.87.1 (api "openai-responses") and codex 0.169.0 use
// it.
type responsesWire struct{}

func (w responsesWire) read(body []byte, r *Request) error {
	var q struct {
		Model        string          `json:"model"`
		Stream       bool            `json:"stream"`
		Instructions string          `json:"instructions"`
		Input        json.RawMessage `json:"input"`
		Tools        []struct {
			Type string `json:"type"`
			// of functions; the tools of the API itself have only a type
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return fmt.Errorf("read a responses request: %w", err)
	}
	r.Model, r.Stream = q.Model, q.Stream
	if q.Instructions != "" {
		r.Messages = say(r.Messages, Message{Role: System, Text: q.Instructions})
	}
	if err := w.readInput(q.Input, r); err != nil {
		return err
	}
	for _, t := range q.Tools {
		name := t.Name
		if name == "" {
			name = t.Type
		}
		r.Tools = append(r.Tools, Tool{Name: name, Schema: t.Parameters})
	}
	return nil
}

func (responsesWire) readInput(input json.RawMessage, r *Request) error {
	var text string
	if json.Unmarshal(input, &text) == nil {
		r.Messages = say(r.Messages, Message{Role: User, Text: text})
		return nil
	}
	var items []struct {
		Type      string  `json:"type"`
		Role      string  `json:"role"`
		Content   content `json:"content"`
		Name      string  `json:"name"`
		Arguments string  `json:"arguments"` // of function_call
		Input     string  `json:"input"`     // of custom_tool_call
		Output    content `json:"output"`
	}
	if err := json.Unmarshal(input, &items); err != nil {
		return fmt.Errorf("read the input of a responses request: %w", err)
	}
	for _, item := range items {
		switch item.Type {
		case "", "message":
			r.Messages = say(r.Messages, Message{Role: roleOf(item.Role), Text: item.Content.text()})
		case "function_call":
			r.Messages = say(r.Messages, Message{Role: Assistant, Calls: []Call{{Name: item.Name, Args: decodeArgs(item.Arguments)}}})
		case "custom_tool_call":
			r.Messages = say(r.Messages, Message{Role: Assistant, Calls: []Call{{Name: item.Name, Args: item.Input}}})
		case "function_call_output", "custom_tool_call_output":
			r.Messages = say(r.Messages, Message{Role: ToolOutput, Text: item.Output.text()})
		}
	}
	return nil
}

func (w responsesWire) stream(a answer) []sse {
	var events []sse
	emit := func(kind string, fields object, piece bool) {
		fields["type"] = kind
		fields["sequence_number"] = len(events)
		events = append(events, sse{name: kind, data: fields, piece: piece})
	}
	emit("response.created", object{"response": w.envelope(a, "in_progress", []object{})}, false)
	emit("response.in_progress", object{"response": w.envelope(a, "in_progress", []object{})}, false)

	items := w.items(a)
	for i, item := range items {
		at := func(more object) object {
			more["output_index"], more["item_id"] = i, item["id"]
			return more
		}
		emit("response.output_item.added", object{"output_index": i, "item": w.begun(item)}, false)
		switch item["type"] {
		case "message":
			emit("response.content_part.added", at(object{"content_index": 0, "part": outputText("")}), false)
			for _, p := range a.text {
				emit("response.output_text.delta", at(object{"content_index": 0, "delta": p}), true)
			}
			emit("response.output_text.done", at(object{"content_index": 0, "text": join(a.text)}), false)
			emit("response.content_part.done", at(object{"content_index": 0, "part": outputText(join(a.text))}), false)
		case "function_call":
			emit("response.function_call_arguments.delta", at(object{"delta": item["arguments"]}), true)
			emit("response.function_call_arguments.done", at(object{"arguments": item["arguments"]}), false)
		}
		emit("response.output_item.done", object{"output_index": i, "item": item}, false)
	}
	final := w.whole(a).(object)
	emit("response."+final["status"].(string), object{"response": final}, false)
	return events
}

func (w responsesWire) whole(a answer) any {
	status, reason := "completed", ""
	switch {
	case a.fault != "":
		status = "failed"
	case a.refused:
		status, reason = "incomplete", "content_filter"
	case a.cutoff:
		status, reason = "incomplete", "max_output_tokens"
	}
	response := w.envelope(a, status, w.items(a))
	response["usage"] = w.usage(a.usage)
	if a.fault != "" {
		response["error"] = object{"code": a.fault, "message": a.message}
	}
	if reason != "" {
		response["incomplete_details"] = object{"reason": reason}
	}
	return response
}

func (responsesWire) items(a answer) []object {
	items := []object{}
	if len(a.text) > 0 {
		items = append(items, object{
			"type": "message", "id": a.id("msg"), "role": "assistant", "status": "completed",
			"content": []object{outputText(join(a.text))},
		})
	}
	for _, c := range a.calls {
		item := object{
			"type": "function_call", "id": "fc_" + c.id, "call_id": c.id, "status": "completed", "name": c.name, "arguments": c.args,
		}
		if c.namespace != "" {
			item["namespace"] = c.namespace
		}
		items = append(items, item)
	}
	return items
}

// begun is an item as it looks before its content.
func (responsesWire) begun(item object) object {
	begun := object{}
	for k, v := range item {
		switch k {
		case "content":
			v = []object{}
		case "arguments":
			v = ""
		case "status":
			v = "in_progress"
		}
		begun[k] = v
	}
	return begun
}

func (responsesWire) envelope(a answer, status string, output []object) object {
	return object{
		"id": a.id("resp"), "object": "response", "created_at": a.at, "model": a.request.Model, "status": status,
		"output": output, "error": nil, "incomplete_details": nil, "usage": nil,
	}
}

func (responsesWire) usage(u Usage) object {
	details := object{"cached_tokens": u.CacheRead}
	if u.CacheWrite > 0 {
		details["cache_write_tokens"] = u.CacheWrite
	}
	return object{
		"input_tokens": u.input(), "input_tokens_details": details,
		"output_tokens": u.Out, "output_tokens_details": object{"reasoning_tokens": 0},
		"total_tokens": u.input() + u.Out,
	}
}

func (responsesWire) failure(status int, message string) any { return openAIFailure(status, message) }

func outputText(text string) object {
	return object{"type": "output_text", "text": text, "annotations": []object{}}
}

func join(text []string) string { return strings.Join(text, "") }
