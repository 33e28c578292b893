package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Waits of the agent: those of Claude Code divided by 300. See PLAN.md.
const (
	retries     = 3
	firstRetry  = 20 * time.Millisecond
	longestWait = 200 * time.Millisecond // a longer retry-after ends the turn
	stallAfter  = time.Second            // a stream without a byte is dropped
	answerAfter = 2 * time.Second        // a request without an answer is dropped
	goalTurns   = 10
)

// An agentRun is one process of the scripted agent, which is called and prints as Claude Code does.
type agentRun struct {
	base, session string
	out           *json.Encoder
	messages      []apiMessage
	used, reset   [2]int // tokens in and out; the time of a reset in Unix seconds, and whether there is one
	turns         int
}

type object = map[string]any

// errAPI is a request that failed for good.
type errAPI struct {
	status int
	kind   string // in the words of Claude Code's api_retry
}

func (e errAPI) Error() string { return fmt.Sprintf("API Error: %d %s", e.status, e.kind) }

// agentMain is the program under the name claude.
func agentMain(args []string) int {
	has := func(flag string) bool { return slices.Contains(args, flag) }
	value := func(flag string) string {
		if i := slices.Index(args, flag); i >= 0 && i+1 < len(args) {
			return args[i+1]
		}
		return ""
	}
	switch {
	case has("--version"):
		fmt.Println("2.1.329 (Claude Code), a script")
		return 0
	case has("--help"):
		fmt.Println("Usage: claude --include-partial-messages")
		return 0
	}
	a := &agentRun{base: os.Getenv("ANTHROPIC_BASE_URL"), session: value("--session-id"), out: json.NewEncoder(os.Stdout)}
	a.out.SetEscapeHTML(false)
	if a.session == "" {
		a.session = "00000000-0000-4000-8000-000000000000"
	}
	if has("--input-format") {
		return a.serve(os.Stdin)
	}
	a.init()
	prompt := args[len(args)-1]
	for turn := 0; ; turn++ {
		code := a.turn(prompt)
		if !has("--goal") || code != 0 {
			return code
		}
		met, words := a.judge()
		if met {
			return 0
		}
		if turn+1 == goalTurns {
			return 1
		}
		prompt = "The goal is not reached: " + words + " Work on."
	}
}

// serve plays the two-way protocol: one prompt after the other on stdin, until it ends.
func (a *agentRun) serve(stdin io.Reader) int {
	lines := bufio.NewScanner(stdin)
	lines.Buffer(nil, 64<<20)
	code, begun := 0, false
	for lines.Scan() {
		var m struct {
			Type, UUID string
			RequestID  string `json:"request_id"`
			Message    struct{ Content []apiBlock }
			Request    struct{ Subtype string }
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			continue
		}
		switch {
		case m.Type == "control_request":
			a.print(object{"type": "control_response", "response": object{"subtype": "success", "request_id": m.RequestID}})
			if m.Request.Subtype == "end_session" {
				return code
			}
		case m.Type == "user" && len(m.Message.Content) > 0:
			if !begun {
				a.init()
				begun = true
			}
			a.print(object{"type": "user", "uuid": m.UUID, "isReplay": true, "session_id": a.session,
				"message": object{"role": "user", "content": m.Message.Content}})
			code = a.turn(m.Message.Content[0].Text)
		}
	}
	return code
}

// print writes a line. Where stdout is gone, its reader is, and no line matters any more.
func (a *agentRun) print(line object) { _ = a.out.Encode(line) }

func (a *agentRun) init() {
	a.print(object{"type": "system", "subtype": "init", "session_id": a.session, "model": "script", "claude_code_version": "2.1.329"})
}

// turn works on one prompt until the model calls no tool any more, and prints the result.
func (a *agentRun) turn(prompt string) int {
	a.messages = append(a.messages, apiMessage{"user", []apiBlock{say(prompt)}})
	before, said := a.used, ""
	for {
		blocks, err := a.ask(apiRequest{Model: "script", Messages: a.messages})
		if err != nil {
			return a.failed(err)
		}
		a.turns++
		a.messages = append(a.messages, apiMessage{"assistant", blocks})
		a.print(object{"type": "assistant", "session_id": a.session, "message": object{
			"id": fmt.Sprint("m", a.turns), "role": "assistant", "model": "script", "content": blocks}})
		var results []apiBlock
		for _, b := range blocks {
			if b.Type == "text" {
				said = b.Text
			}
			if b.Type == "tool_use" {
				results = append(results, apiBlock{Type: "tool_result", UseID: b.ID, Result: useTool(b.Name, b.Input)})
			}
		}
		if len(results) == 0 {
			break
		}
		a.messages = append(a.messages, apiMessage{"user", results})
		a.print(object{"type": "user", "session_id": a.session, "message": object{"role": "user", "content": results}})
	}
	a.print(a.result(object{"subtype": "success", "is_error": false, "result": said, "terminal_reason": "completed", "stop_reason": "end_turn",
		"usage": object{"input_tokens": a.used[0] - before[0], "output_tokens": a.used[1] - before[1]}}))
	return 0
}

func (a *agentRun) result(more object) object {
	in, out := a.used[0], a.used[1]
	usd := usage{in: in, out: out}.usd()
	r := object{"type": "result", "session_id": a.session, "num_turns": a.turns, "total_cost_usd": usd,
		"modelUsage": object{"script": object{"inputTokens": in, "outputTokens": out, "costUSD": usd}}}
	maps.Copy(r, more)
	return r
}

// failed prints how a turn ends whose request failed for good.
func (a *agentRun) failed(err error) int {
	api, ok := errors.AsType[errAPI](err)
	if !ok {
		api = errAPI{kind: "unknown"}
	}
	if a.reset[1] != 0 {
		a.print(object{"type": "rate_limit_event", "session_id": a.session, "rate_limit_info": object{
			"status": "rejected", "resetsAt": a.reset[0], "rateLimitType": "five_hour"}})
	}
	a.print(object{"type": "assistant", "session_id": a.session, "error": api.kind, "message": object{
		"id": "synthetic", "role": "assistant", "model": "<synthetic>", "content": []apiBlock{say(err.Error())}}})
	more := object{"subtype": "success", "is_error": true, "result": err.Error(), "terminal_reason": "api_error", "stop_reason": "stop_sequence",
		"usage": object{"input_tokens": 0, "output_tokens": 0}}
	if api.status != 0 {
		more["api_error_status"] = api.status
	} else {
		more["api_error"] = "connection_failed"
	}
	a.print(a.result(more))
	return 1
}

// judge asks the evaluator of a goal what it thinks of the conversation.
func (a *agentRun) judge() (met bool, words string) {
	var b strings.Builder
	for _, m := range a.messages {
		for _, block := range m.Content {
			text := block.Text + block.Result
			b.WriteString(m.Role + ": " + text[:min(len(text), 2000)] + "\n")
		}
	}
	text := strings.TrimSpace(b.String())
	blocks, err := a.ask(apiRequest{Model: "script", System: evaluator, Messages: []apiMessage{{"user", []apiBlock{say(text)}}}})
	if err != nil || len(blocks) == 0 {
		return false, "the evaluator did not answer."
	}
	return blocks[len(blocks)-1].Text == goalMet, blocks[len(blocks)-1].Text
}

// ask sends a request, and sends it again after faults that may pass.
func (a *agentRun) ask(req apiRequest) ([]apiBlock, error) {
	req.Stream = true
	body, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	for attempt := 0; ; attempt++ {
		blocks, after, err := a.request(body)
		if err == nil {
			return blocks, nil
		}
		api, _ := errors.AsType[errAPI](err)
		if attempt == retries || after > longestWait || api.status == 401 && attempt == 2 {
			return nil, err
		}
		var status any
		if api.status != 0 {
			status = api.status
		}
		delay := max(after, firstRetry<<attempt)
		a.print(object{"type": "system", "subtype": "api_retry", "session_id": a.session, "attempt": attempt + 1, "max_retries": retries,
			"retry_delay_ms": delay.Milliseconds(), "error_status": status, "error": api.kind})
		time.Sleep(delay)
	}
}

// request sends a request once. after is what the answer says about when to come again.
func (a *agentRun) request(body []byte) (blocks []apiBlock, after time.Duration, err error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	watch := time.AfterFunc(answerAfter, func() { cancel(errors.New("no answer")) })
	defer watch.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.base+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set("X-Api-Key", os.Getenv("ANTHROPIC_API_KEY"))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, 0, errAPI{kind: "unknown"}
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		if reset, err := strconv.Atoi(res.Header.Get("Anthropic-Ratelimit-Unified-Reset")); err == nil {
			a.reset = [2]int{reset, 1}
		}
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
		kind := map[int]string{401: "authentication_failed", 429: "rate_limit", 529: "overloaded"}[res.StatusCode]
		return nil, time.Duration(seconds) * time.Second, errAPI{res.StatusCode, kind}
	}
	a.reset = [2]int{}
	var input strings.Builder
	for lines := bufio.NewReader(res.Body); ; {
		watch.Reset(stallAfter)
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil, 0, errAPI{kind: "unknown"} // the stream ended too early, or was dropped
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		var e struct {
			Type  string
			Block apiBlock `json:"content_block"`
			Delta struct {
				Text string
				JSON string `json:"partial_json"`
			}
			Message struct{ Usage map[string]int }
			Usage   map[string]int
		}
		if err := json.Unmarshal(data, &e); err != nil {
			return nil, 0, errAPI{kind: "unknown"}
		}
		switch e.Type {
		case "message_start":
			a.used[0] += e.Message.Usage["input_tokens"]
		case "content_block_start":
			blocks = append(blocks, e.Block)
			input.Reset()
		case "content_block_delta":
			blocks[len(blocks)-1].Text += e.Delta.Text
			input.WriteString(e.Delta.JSON)
		case "content_block_stop":
			if input.Len() == 0 {
				break
			}
			if err := json.Unmarshal([]byte(input.String()), &blocks[len(blocks)-1].Input); err != nil {
				return nil, 0, errAPI{kind: "unknown"}
			}
		case "message_delta":
			a.used[1] += e.Usage["output_tokens"]
		case "message_stop":
			return blocks, 0, nil
		}
	}
}

// useTool does what the model asks for, in the present folder.
func useTool(name string, input map[string]string) string {
	switch name {
	case "Read":
		text, err := os.ReadFile(input["file_path"])
		if err != nil {
			return "Error: " + err.Error()
		}
		return string(text)
	case "Write":
		if err := os.WriteFile(input["file_path"], []byte(input["content"]), 0o644); err != nil {
			return "Error: " + err.Error()
		}
		return "written"
	case "Bash":
		out, err := exec.Command("sh", "-c", input["command"]).CombinedOutput()
		if err != nil {
			return string(out) + err.Error()
		}
		return string(out)
	}
	return "Error: no such tool: " + name
}
