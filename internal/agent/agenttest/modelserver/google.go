package modelserver

import (
	"encoding/json"
	"fmt"
	"strings"
)

// googleWire is Google's generateContent, as Gemini CLI 0.61.0 uses it. The path names the model
// and says whether the answer is streamed.
type googleWire struct{}

type googlePart struct {
	Text         string `json:"text"`
	FunctionCall *struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	FunctionResponse *struct {
		Response json.RawMessage `json:"response"`
	} `json:"functionResponse"`
}

type googleContent struct {
	Role  string       `json:"role"`
	Parts []googlePart `json:"parts"`
}

func (googleWire) read(body []byte, r *Request) error {
	var q struct {
		SystemInstruction json.RawMessage `json:"systemInstruction"`
		Contents          []googleContent `json:"contents"`
		Tools             []struct {
			FunctionDeclarations []struct {
				Name       string          `json:"name"`
				Parameters json.RawMessage `json:"parameters"`
				Schema     json.RawMessage `json:"parametersJsonSchema"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return fmt.Errorf("read a generateContent request: %w", err)
	}
	path, _, _ := strings.Cut(r.Path, "?")
	model, method, _ := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ":")
	r.Model, r.Stream = model, method == "streamGenerateContent"
	var system googleContent
	if json.Unmarshal(q.SystemInstruction, &system) == nil && len(system.Parts) > 0 {
		r.Messages = say(r.Messages, Message{Role: System, Text: system.text()})
	}
	for _, c := range q.Contents {
		r.Messages = c.say(r.Messages)
	}
	for _, t := range q.Tools {
		for _, f := range t.FunctionDeclarations {
			schema := f.Schema
			if schema == nil {
				schema = f.Parameters
			}
			r.Tools = append(r.Tools, Tool{Name: f.Name, Schema: schema})
		}
	}
	return nil
}

func (c googleContent) text() string {
	var texts []string
	for _, p := range c.Parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// say takes the outputs of tools out of the user's message that wraps them.
func (c googleContent) say(conversation []Message) []Message {
	role := User
	if c.Role == "model" {
		role = Assistant
	}
	m := Message{Role: role, Text: c.text()}
	for _, p := range c.Parts {
		if p.FunctionCall != nil {
			m.Calls = append(m.Calls, Call{Name: p.FunctionCall.Name, Args: decodeArgs(string(p.FunctionCall.Args))})
		}
		if p.FunctionResponse != nil {
			conversation = say(conversation, Message{Role: ToolOutput, Text: responseText(p.FunctionResponse.Response)})
		}
	}
	if m.Text == "" && m.Calls == nil {
		return conversation
	}
	return say(conversation, m)
}

// responseText is a tool's output, which Gemini CLI wraps as {"output": …}.
func responseText(response json.RawMessage) string {
	var wrapped struct {
		Output string `json:"output"`
		Error  string `json:"error"`
	}
	if json.Unmarshal(response, &wrapped) == nil && wrapped.Output+wrapped.Error != "" {
		return wrapped.Output + wrapped.Error
	}
	return string(response)
}

func (w googleWire) stream(a answer) []sse {
	var events []sse
	emit := func(part object, piece bool) {
		events = append(events, sse{data: object{"candidates": []object{w.candidate([]object{part})}}, piece: piece})
	}
	for _, p := range a.text {
		emit(object{"text": p}, true)
	}
	for _, c := range a.calls {
		emit(w.call(c), true)
	}
	return append(events, sse{data: w.last(a, nil)})
}

func (w googleWire) whole(a answer) any {
	parts := []object{}
	if len(a.text) > 0 {
		parts = append(parts, object{"text": join(a.text)})
	}
	for _, c := range a.calls {
		parts = append(parts, w.call(c))
	}
	return w.last(a, parts)
}

func (googleWire) candidate(parts []object) object {
	return object{"index": 0, "content": object{"role": "model", "parts": parts}}
}

func (googleWire) call(c encodedCall) object {
	return object{"functionCall": object{"name": c.name, "args": json.RawMessage(c.args)}}
}

// last ends an answer: the reason and the usage, which counts what came from the cache within the
// prompt.
func (w googleWire) last(a answer, parts []object) object {
	if parts == nil {
		parts = []object{{"text": ""}}
	}
	candidate := w.candidate(parts)
	candidate["finishReason"] = "STOP"
	if a.refused {
		candidate["finishReason"] = "SAFETY"
	} else if a.cutoff {
		candidate["finishReason"] = "MAX_TOKENS"
	}
	return object{
		"candidates": []object{candidate}, "modelVersion": a.request.Model, "responseId": a.id("resp"),
		"usageMetadata": object{
			"promptTokenCount": a.usage.input(), "cachedContentTokenCount": a.usage.CacheRead,
			"candidatesTokenCount": a.usage.Out, "totalTokenCount": a.usage.input() + a.usage.Out,
		},
	}
}

func (googleWire) failure(status int, message string) any {
	names := map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED",
		429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE"}
	return object{"error": object{"code": status, "message": message, "status": names[status]}}
}
