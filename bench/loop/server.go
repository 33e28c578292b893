package main

import (
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// serveModel answers the Messages API with the script of the trial in the path, as a stream.
func serveModel(w http.ResponseWriter, r *http.Request, s *script) {
	var req apiRequest
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil || len(req.Messages) == 0 {
		http.Error(w, `{"type":"error","error":{"type":"invalid_request_error","message":"no messages"}}`, http.StatusBadRequest)
		return
	}
	blocks := s.answer(req)
	in := 200 + len(req.System)/4
	for _, m := range req.Messages {
		in += tokens(m.Content)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(kind string, data map[string]any) {
		data["type"] = kind
		text, _ := json.Marshal(data)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, text)
		w.(http.Flusher).Flush()
	}
	type object = map[string]any
	send("message_start", object{"message": object{"id": fmt.Sprint("msg_", s.turns, "_", len(req.Messages)), "type": "message", "role": "assistant",
		"model": req.Model, "content": []any{}, "usage": object{"input_tokens": in, "output_tokens": 1}}})
	reason := "end_turn"
	for i, b := range blocks {
		delta := object{"type": "text_delta", "text": b.Text}
		start := object{"type": "text", "text": ""}
		if b.Type == "tool_use" {
			input, _ := json.Marshal(b.Input)
			delta = object{"type": "input_json_delta", "partial_json": string(input)}
			start = object{"type": "tool_use", "id": b.ID, "name": b.Name, "input": object{}}
			reason = "tool_use"
		}
		send("content_block_start", object{"index": i, "content_block": start})
		send("content_block_delta", object{"index": i, "delta": delta})
		send("content_block_stop", object{"index": i})
	}
	send("message_delta", object{"delta": object{"stop_reason": reason}, "usage": object{"output_tokens": 20 + tokens(blocks)}})
	send("message_stop", object{})
}

// Prices per token: those of the plan, in US dollars.
const (
	priceIn  = 3e-6
	priceOut = 15e-6
)

// A usage is what a proxy reads of a streamed answer.
type usage struct {
	in, out int
	claim   bool
}

// read takes one line of the stream.
func (u *usage) read(line string) {
	data, ok := strings.CutPrefix(line, "data: ")
	if !ok || len(data) > 1<<20 {
		return
	}
	type counts struct {
		In    int `json:"input_tokens"`
		Write int `json:"cache_creation_input_tokens"`
		Read  int `json:"cache_read_input_tokens"`
		Out   int `json:"output_tokens"`
	}
	var e struct {
		Message struct{ Usage *counts }
		Usage   *counts
	}
	if json.Unmarshal([]byte(data), &e) != nil {
		return
	}
	if c := e.Message.Usage; c != nil {
		u.in, u.out = c.In+c.Write+c.Read, c.Out
	}
	if c := e.Usage; c != nil {
		u.out = max(u.out, c.Out)
	}
	u.claim = u.claim || strings.Contains(data, "COMPLETE")
}

func (u usage) usd() float64 { return float64(u.in)*priceIn + float64(u.out)*priceOut }

// Faults that last: for this long, each request of the trial fails in the same way.
var spells = map[string]time.Duration{"429": time.Second, "429-reset": time.Second, "529": time.Second / 2, "login": time.Second}

// refuse answers with the error of a fault that is an answer.
func refuse(w http.ResponseWriter, fault string, until time.Time) {
	status, kind := http.StatusTooManyRequests, "rate_limit_error"
	switch fault {
	case "529":
		status, kind = 529, "overloaded_error"
	case "login":
		status, kind = http.StatusUnauthorized, "authentication_error"
	case "429-reset":
		w.Header().Set("Retry-After", fmt.Sprint(max(1, int(time.Until(until).Seconds()+0.999))))
		w.Header().Set("Anthropic-Ratelimit-Unified-Reset", fmt.Sprint(until.Unix()+1))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"type":"error","error":{"type":%q,"message":"made by the proxy"}}`, kind)
}

// longLine is the text of the fault long-line.
var longLine = strings.Repeat("long ", 4<<20)

var blockIndex = regexp.MustCompile(`"index":(\d+)`)

// passStream copies a streamed answer line by line, with what the fault does to it, and returns its
// usage. gone is closed when the agent has dropped the stream.
func passStream(w http.ResponseWriter, lines iter.Seq[string], fault string, gone <-chan struct{}) usage {
	var u usage
	sent := 0
	for line := range lines {
		u.read(line)
		if fault == "long-line" && strings.HasPrefix(line, "data: ") && strings.Contains(line, `"type":"content_block`) {
			index := blockIndex.FindStringSubmatch(line)
			if len(index) == 2 && index[1] == "0" && strings.Contains(line, "content_block_start") {
				writeLongBlock(w)
			}
			if len(index) == 2 {
				n, _ := strconv.Atoi(index[1])
				line = strings.Replace(line, index[0], fmt.Sprintf(`"index":%d`, n+1), 1)
			}
		}
		fmt.Fprintf(w, "%s\n", line)
		if line == "" {
			sent++
			w.(http.Flusher).Flush()
		}
		if fault == "half-open" && sent == 2 {
			<-gone
			return u
		}
	}
	return u
}

// writeLongBlock puts a block of 20 MB in front of the first one. The name of the first block's
// event was sent before: it becomes that of this one.
func writeLongBlock(w http.ResponseWriter) {
	type object = map[string]any
	for i, e := range []object{
		{"type": "content_block_start", "index": 0, "content_block": object{"type": "text", "text": ""}},
		{"type": "content_block_delta", "index": 0, "delta": object{"type": "text_delta", "text": longLine}},
		{"type": "content_block_stop", "index": 0},
	} {
		text, _ := json.Marshal(e)
		if i > 0 {
			fmt.Fprintf(w, "event: %s\n", e["type"])
		}
		fmt.Fprintf(w, "data: %s\n\n", text)
	}
	fmt.Fprint(w, "event: content_block_start\n")
}
