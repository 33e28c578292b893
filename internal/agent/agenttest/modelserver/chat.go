package modelserver

import (
	"encoding/json"
	"fmt"
)

// chatWire is OpenAI's chat completions, as pi 0.87.1 uses it (api "openai-completions").
type chatWire struct{}

func (chatWire) read(body []byte, r *Request) error {
	var q struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Messages []struct {
			Role      string  `json:"role"`
			Content   content `json:"content"`
			ToolCalls []struct {
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name       string          `json:"name"`
				Parameters json.RawMessage `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return fmt.Errorf("read a chat completions request: %w", err)
	}
	r.Model, r.Stream = q.Model, q.Stream
	for _, m := range q.Messages {
		message := Message{Role: roleOf(m.Role), Text: m.Content.text()}
		for _, c := range m.ToolCalls {
			message.Calls = append(message.Calls, Call{Name: c.Function.Name, Args: decodeArgs(c.Function.Arguments)})
		}
		r.Messages = say(r.Messages, message)
	}
	for _, t := range q.Tools {
		r.Tools = append(r.Tools, Tool{Name: t.Function.Name, Schema: t.Function.Parameters})
	}
	return nil
}

func (w chatWire) stream(a answer) []sse {
	var events []sse
	chunk := func(choices []object, piece bool) {
		events = append(events, sse{data: w.envelope(a, "chat.completion.chunk", choices), piece: piece})
	}
	delta := func(d object, piece bool) {
		chunk([]object{{"index": 0, "delta": d, "finish_reason": nil}}, piece)
	}
	delta(object{"role": "assistant", "content": ""}, false)
	for _, p := range a.text {
		delta(object{"content": p}, true)
	}
	for i, c := range a.calls {
		delta(object{"tool_calls": []object{{"index": i, "id": c.id, "type": "function", "function": object{"name": c.name, "arguments": ""}}}}, false)
		delta(object{"tool_calls": []object{{"index": i, "function": object{"arguments": c.args}}}}, true)
	}
	chunk([]object{{"index": 0, "delta": object{}, "finish_reason": w.finish(a)}}, false)

	// The API sends the usage in a chunk of its own, without choices, and only to those who asked;
	// sending it always is what the servers that imitate the API do.
	last := w.envelope(a, "chat.completion.chunk", []object{})
	last["usage"] = w.usage(a.usage)
	return append(events, sse{data: last}, sse{data: rawData("[DONE]")})
}

func (w chatWire) whole(a answer) any {
	message := object{"role": "assistant", "content": join(a.text)}
	var calls []object
	for _, c := range a.calls {
		calls = append(calls, object{"id": c.id, "type": "function", "function": object{"name": c.name, "arguments": c.args}})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	o := w.envelope(a, "chat.completion", []object{{"index": 0, "message": message, "finish_reason": w.finish(a)}})
	o["usage"] = w.usage(a.usage)
	return o
}

func (chatWire) envelope(a answer, kind string, choices []object) object {
	return object{"id": a.id("chatcmpl"), "object": kind, "created": a.at, "model": a.request.Model, "choices": choices}
}

func (chatWire) finish(a answer) string {
	switch {
	case a.refused:
		return "content_filter"
	case a.cutoff:
		return "length"
	case len(a.calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func (chatWire) usage(u Usage) object {
	details := object{"cached_tokens": u.CacheRead}
	if u.CacheWrite > 0 {
		// OpenAI has no such field; pi reads it because routers send it.
		details["cache_write_tokens"] = u.CacheWrite
	}
	return object{
		"prompt_tokens": u.input(), "completion_tokens": u.Out, "total_tokens": u.input() + u.Out,
		"prompt_tokens_details": details,
	}
}

func (chatWire) failure(status int, message string) any { return openAIFailure(status, message) }
