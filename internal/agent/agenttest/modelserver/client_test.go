package modelserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// reply is what a client understood of an answer, the same for all formats.
type reply struct {
	Pieces []string
	Calls  []replyCall
	Usage  replyUsage
	Finish string
}

type replyCall struct{ ID, Name, Args string }

type replyUsage struct{ In, Out, CacheRead, CacheWrite int }

func (r reply) text() string { return strings.Join(r.Pieces, "") }

// A dialect is the client's side of a format.
type dialect struct {
	format Format
	path   string
	bodies map[string]string // of requests, by what they hold
	decode func(next func() (event, bool)) (reply, error)
	whole  func(body []byte) (reply, error)
}

type event struct{ name, data string }

// post sends one of the dialect's requests. The caller closes the body.
func (d dialect) post(ctx context.Context, srv *Server, body string) (*http.Response, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL+d.path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(q)
}

// ask gets a streamed answer to the dialect's plain request. The error is that of the stream: the
// reply then holds what came before it.
func (d dialect) ask(t *testing.T, srv *Server) (reply, error) {
	t.Helper()
	response, err := d.post(t.Context(), srv, d.bodies["plain"])
	if err != nil {
		return reply{}, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(response.Body)
		return reply{}, fmt.Errorf("status %d: %s", response.StatusCode, body)
	}
	if got := response.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("content type %q of a stream", got)
	}
	return d.read(response.Body)
}

func (d dialect) read(body io.Reader) (reply, error) {
	scanner := bufio.NewScanner(body)
	scanner.Buffer(nil, 1<<20)
	next := func() (event, bool) {
		var e event
		for scanner.Scan() {
			line := scanner.Text()
			switch {
			case line == "":
				return e, true
			case strings.HasPrefix(line, "event: "):
				e.name = line[len("event: "):]
			case strings.HasPrefix(line, "data: "):
				e.data = line[len("data: "):]
			default:
				e.data = "not a line of an event stream: " + line
			}
		}
		return event{}, false
	}
	got, err := d.decode(next)
	return got, errors.Join(err, scanner.Err())
}

var errNoEnd = errors.New("the stream has no end")

var dialects = []dialect{
	{
		format: Chat, path: "/v1/chat/completions", decode: decodeChat, whole: wholeChat,
		bodies: map[string]string{
			"plain": `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"go"}],
				"tools":[{"type":"function","function":{"name":"bash","parameters":{"type":"object","properties":{"command":{"type":"string"}}}}}]}`,
			"unstreamed": `{"model":"m","messages":[{"role":"user","content":"go"}]}`,
			"conversation": `{"model":"m","stream":true,"messages":[
				{"role":"developer","content":"be brief"},
				{"role":"user","content":[{"type":"text","text":"first"},{"type":"text","text":"second"}]},
				{"role":"assistant","content":"looking","tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"echo \\\"hi\\\"\"}"}}]},
				{"role":"tool","tool_call_id":"c1","content":"hi"},
				{"role":"system","content":"hurry"},
				{"role":"user","content":"steer"},
				{"role":"assistant","content":null,"tool_calls":[{"id":"c2","type":"function","function":{"name":"bash","arguments":"{broken"}}]}]}`,
		},
	},
	{
		format: Responses, path: "/v1/responses", decode: decodeResponses, whole: wholeResponses,
		bodies: map[string]string{
			"plain": `{"model":"m","stream":true,"input":"go",
				"tools":[{"type":"function","name":"bash","parameters":{"type":"object","properties":{"command":{"type":"string"}}}}]}`,
			"unstreamed": `{"model":"m","input":[{"role":"user","content":"go"}]}`,
			"conversation": `{"model":"m","stream":true,"instructions":"be brief","input":[
				{"role":"user","content":[{"type":"input_text","text":"first"},{"type":"input_text","text":"second"}]},
				{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}]},
				{"type":"message","role":"assistant","content":[{"type":"output_text","text":"looking"}]},
				{"type":"function_call","call_id":"c1","name":"bash","arguments":"{\"command\":\"echo \\\"hi\\\"\"}"},
				{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"hi"}]},
				{"role":"developer","content":"hurry"},
				{"role":"user","content":"steer"},
				{"type":"custom_tool_call","call_id":"c2","name":"bash","input":"{broken"}]}`,
		},
	},
	{
		format: Messages, path: "/v1/messages?beta=true", decode: decodeMessages, whole: wholeMessages,
		bodies: map[string]string{
			"plain": `{"model":"m","stream":true,"messages":[{"role":"user","content":"go"}],
				"tools":[{"name":"bash","input_schema":{"type":"object","properties":{"command":{"type":"string"}}}}]}`,
			"unstreamed": `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"go"}]}]}`,
			"conversation": `{"model":"m","stream":true,"system":[{"type":"text","text":"be brief"}],"messages":[
				{"role":"user","content":[{"type":"text","text":"first"},{"type":"text","text":"second"}]},
				{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"x"},{"type":"text","text":"looking"},
					{"type":"tool_use","id":"c1","name":"bash","input":{"command":"echo \"hi\""}}]},
				{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"hi"}]}]},
				{"role":"system","content":"hurry"},
				{"role":"user","content":"steer"},
				{"role":"assistant","content":[{"type":"tool_use","id":"c2","name":"bash","input":"{broken"}]}]}`,
		},
	},
}

func decodeChat(next func() (event, bool)) (got reply, err error) {
	for e, ok := next(); ok; e, ok = next() {
		if e.data == "[DONE]" {
			return got, nil
		}
		var chunk struct {
			Object  string `json:"object"`
			Choices []struct {
				Delta struct {
					Content   string `json:"content"`
					ToolCalls []struct {
						Index    int    `json:"index"`
						ID       string `json:"id"`
						Function struct{ Name, Arguments string }
					} `json:"tool_calls"`
				} `json:"delta"`
				FinishReason string `json:"finish_reason"`
			} `json:"choices"`
			Usage *chatUsage `json:"usage"`
		}
		if err := json.Unmarshal([]byte(e.data), &chunk); err != nil {
			return got, fmt.Errorf("chunk %q: %w", e.data, err)
		}
		if chunk.Object != "chat.completion.chunk" {
			return got, fmt.Errorf("an object %q in the stream", chunk.Object)
		}
		for _, c := range chunk.Choices {
			if c.Delta.Content != "" {
				got.Pieces = append(got.Pieces, c.Delta.Content)
			}
			for _, call := range c.Delta.ToolCalls {
				if call.Index == len(got.Calls) {
					got.Calls = append(got.Calls, replyCall{ID: call.ID, Name: call.Function.Name})
				}
				got.Calls[call.Index].Args += call.Function.Arguments
			}
			if c.FinishReason != "" {
				got.Finish = c.FinishReason
			}
		}
		if chunk.Usage != nil {
			got.Usage = chunk.Usage.reply()
		}
	}
	return got, errNoEnd
}

func wholeChat(body []byte) (got reply, err error) {
	var whole struct {
		Choices []struct {
			Message struct {
				Content   string `json:"content"`
				ToolCalls []struct {
					ID       string `json:"id"`
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			} `json:"message"`
			FinishReason string `json:"finish_reason"`
		} `json:"choices"`
		Usage chatUsage `json:"usage"`
	}
	if err := json.Unmarshal(body, &whole); err != nil || len(whole.Choices) != 1 {
		return got, fmt.Errorf("completion %s: %w", body, err)
	}
	c := whole.Choices[0]
	got = reply{Pieces: []string{c.Message.Content}, Usage: whole.Usage.reply(), Finish: c.FinishReason}
	for _, call := range c.Message.ToolCalls {
		got.Calls = append(got.Calls, replyCall{ID: call.ID, Name: call.Function.Name, Args: call.Function.Arguments})
	}
	return got, nil
}

type chatUsage struct {
	PromptTokens        int `json:"prompt_tokens"`
	CompletionTokens    int `json:"completion_tokens"`
	TotalTokens         int `json:"total_tokens"`
	PromptTokensDetails struct {
		CachedTokens     int `json:"cached_tokens"`
		CacheWriteTokens int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
}

func (u chatUsage) reply() replyUsage {
	if u.TotalTokens != u.PromptTokens+u.CompletionTokens {
		return replyUsage{} // a wrong total shows as missing usage
	}
	read, write := u.PromptTokensDetails.CachedTokens, u.PromptTokensDetails.CacheWriteTokens
	return replyUsage{In: u.PromptTokens - read - write, Out: u.CompletionTokens, CacheRead: read, CacheWrite: write}
}

type fullResponse struct {
	Status string `json:"status"`
	Output []struct {
		Type      string `json:"type"`
		CallID    string `json:"call_id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
		Summary   []struct{ Text string }
		Content   []struct{ Type, Text string }
	} `json:"output"`
	Usage struct {
		InputTokens        int `json:"input_tokens"`
		OutputTokens       int `json:"output_tokens"`
		InputTokensDetails struct {
			CachedTokens     int `json:"cached_tokens"`
			CacheWriteTokens int `json:"cache_write_tokens"`
		} `json:"input_tokens_details"`
	} `json:"usage"`
}

func (w fullResponse) reply() reply {
	read, write := w.Usage.InputTokensDetails.CachedTokens, w.Usage.InputTokensDetails.CacheWriteTokens
	got := reply{Finish: w.Status, Usage: replyUsage{
		In: w.Usage.InputTokens - read - write, Out: w.Usage.OutputTokens, CacheRead: read, CacheWrite: write,
	}}
	for _, item := range w.Output {
		switch item.Type {
		case "message":
			got.Pieces = append(got.Pieces, item.Content[0].Text)
		case "function_call":
			got.Calls = append(got.Calls, replyCall{ID: item.CallID, Name: item.Name, Args: item.Arguments})
		}
	}
	return got
}

// decodeResponses reads deltas, as a client that shows progress does, and checks them against the
// final response.
func decodeResponses(next func() (event, bool)) (got reply, err error) {
	sequence := 0
	for e, ok := next(); ok; e, ok = next() {
		var data struct {
			Type     string `json:"type"`
			Sequence int    `json:"sequence_number"`
			Delta    string `json:"delta"`
			Item     struct {
				CallID string `json:"call_id"`
				Name   string `json:"name"`
			} `json:"item"`
			Response fullResponse `json:"response"`
		}
		if err := json.Unmarshal([]byte(e.data), &data); err != nil {
			return got, fmt.Errorf("event %q: %w", e.data, err)
		}
		if data.Type != e.name || data.Sequence != sequence {
			return got, fmt.Errorf("event %s, number %d, says it is %s, number %d", e.name, sequence, data.Type, data.Sequence)
		}
		sequence++
		switch e.name {
		case "response.output_text.delta":
			got.Pieces = append(got.Pieces, data.Delta)
		case "response.output_item.added":
			if data.Item.CallID != "" {
				got.Calls = append(got.Calls, replyCall{ID: data.Item.CallID, Name: data.Item.Name})
			}
		case "response.function_call_arguments.delta":
			got.Calls[len(got.Calls)-1].Args += data.Delta
		case "response.completed", "response.incomplete":
			final := data.Response.reply()
			if final.text() != got.text() || fmt.Sprint(final.Calls) != fmt.Sprint(got.Calls) {
				return got, fmt.Errorf("deltas gave %+v, the response says %+v", got, final)
			}
			got.Usage, got.Finish = final.Usage, final.Finish
			return got, nil
		}
	}
	return got, errNoEnd
}

func wholeResponses(body []byte) (reply, error) {
	var whole fullResponse
	if err := json.Unmarshal(body, &whole); err != nil {
		return reply{}, fmt.Errorf("response %s: %w", body, err)
	}
	return whole.reply(), nil
}

type messagesUsage struct {
	InputTokens              int `json:"input_tokens"`
	OutputTokens             int `json:"output_tokens"`
	CacheReadInputTokens     int `json:"cache_read_input_tokens"`
	CacheCreationInputTokens int `json:"cache_creation_input_tokens"`
}

func (u messagesUsage) reply() replyUsage {
	return replyUsage{In: u.InputTokens, Out: u.OutputTokens, CacheRead: u.CacheReadInputTokens, CacheWrite: u.CacheCreationInputTokens}
}

func decodeMessages(next func() (event, bool)) (got reply, err error) {
	open := -1 // the block that is being streamed
	for e, ok := next(); ok; e, ok = next() {
		var data struct {
			Type    string `json:"type"`
			Index   int    `json:"index"`
			Message struct {
				Usage messagesUsage `json:"usage"`
			} `json:"message"`
			ContentBlock struct{ Type, ID, Name string } `json:"content_block"`
			Delta        struct {
				Type, Text, Thinking string
				PartialJSON          string `json:"partial_json"`
				StopReason           string `json:"stop_reason"`
			} `json:"delta"`
			Usage messagesUsage `json:"usage"`
		}
		if err := json.Unmarshal([]byte(e.data), &data); err != nil {
			return got, fmt.Errorf("event %q: %w", e.data, err)
		}
		if data.Type != e.name {
			return got, fmt.Errorf("event %s says it is %s", e.name, data.Type)
		}
		switch e.name {
		case "message_start":
			got.Usage = data.Message.Usage.reply()
		case "content_block_start":
			if open >= 0 {
				return got, fmt.Errorf("block %d begins inside block %d", data.Index, open)
			}
			open = data.Index
			if data.ContentBlock.Type == "tool_use" {
				got.Calls = append(got.Calls, replyCall{ID: data.ContentBlock.ID, Name: data.ContentBlock.Name})
			}
		case "content_block_delta":
			if data.Index != open {
				return got, fmt.Errorf("a delta of block %d inside block %d", data.Index, open)
			}
			switch data.Delta.Type {
			case "text_delta":
				got.Pieces = append(got.Pieces, data.Delta.Text)
			case "input_json_delta":
				got.Calls[len(got.Calls)-1].Args += data.Delta.PartialJSON
			}
		case "content_block_stop":
			open = -1
		case "message_delta":
			got.Finish, got.Usage = data.Delta.StopReason, data.Usage.reply()
		case "message_stop":
			return got, nil
		}
	}
	return got, errNoEnd
}

func wholeMessages(body []byte) (got reply, err error) {
	var whole struct {
		Content []struct {
			Type, Text, Thinking, ID, Name string
			Input                          json.RawMessage
		} `json:"content"`
		StopReason string        `json:"stop_reason"`
		Usage      messagesUsage `json:"usage"`
	}
	if err := json.Unmarshal(body, &whole); err != nil {
		return got, fmt.Errorf("message %s: %w", body, err)
	}
	got = reply{Finish: whole.StopReason, Usage: whole.Usage.reply()}
	for _, block := range whole.Content {
		switch block.Type {
		case "text":
			got.Pieces = append(got.Pieces, block.Text)
		case "tool_use":
			got.Calls = append(got.Calls, replyCall{ID: block.ID, Name: block.Name, Args: string(block.Input)})
		}
	}
	return got, nil
}
