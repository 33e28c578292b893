//go:build realagents && !windows

// These tests prove the server on the real programs: run tools/agents/install.sh first, then
// go test -tags realagents ./internal/agent/agenttest/modelserver/
package modelserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An agent is a real one that runs, and speaks one JSON object per line.
type agent struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *bytes.Buffer
	work   string // its working directory
}

// start runs an agent for at most a minute; both need about one second on an idle machine. If it
// still runs when the test ends, it gets TERM, then KILL.
func start(t *testing.T, program string, env []string, args ...string) *agent {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	a := &agent{t: t, stderr: new(bytes.Buffer), work: t.TempDir()}
	a.cmd = exec.CommandContext(ctx, filepath.Join(AgentBin(t), program), args...)
	a.cmd.Env, a.cmd.Dir, a.cmd.Stderr = env, a.work, a.stderr
	a.cmd.Cancel = func() error { return a.cmd.Process.Signal(syscall.SIGTERM) }
	a.cmd.WaitDelay = 5 * time.Second
	var err error
	if a.in, err = a.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	a.out = bufio.NewReader(out)
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		a.cmd.Wait() // a second Wait returns at once
	})
	return a
}

func (a *agent) send(message object) {
	a.t.Helper()
	line, err := json.Marshal(message)
	if err != nil {
		a.t.Fatal(err)
	}
	if _, err := a.in.Write(append(line, '\n')); err != nil {
		a.t.Fatalf("write to the agent: %v; stderr: %s", err, a.stderr)
	}
}

// until reads events up to the first that has all of these fields, and returns them all.
func (a *agent) until(fields object) []object {
	a.t.Helper()
	var events []object
	for {
		line, err := a.out.ReadBytes('\n')
		if err != nil {
			a.cmd.Wait()
			a.t.Fatalf("no event %v: %v after %s; stderr: %s", fields, err, indent(events), a.stderr)
		}
		var e object
		if err := json.Unmarshal(line, &e); err != nil {
			a.t.Fatalf("the agent said %q: %v", line, err)
		}
		events = append(events, e)
		if matches(e, fields) {
			return events
		}
	}
}

// leave closes the agent's input and expects that it ends well.
func (a *agent) leave() {
	a.t.Helper()
	a.in.Close()
	io.Copy(io.Discard, a.out)
	if err := a.cmd.Wait(); err != nil {
		a.t.Errorf("the agent ended with %v; stderr: %s", err, a.stderr)
	}
}

func (a *agent) wrote(name, want string) {
	a.t.Helper()
	got, err := os.ReadFile(filepath.Join(a.work, name))
	if err != nil || string(got) != want {
		a.t.Errorf("the tool wrote %q, %v; want %q", got, err, want)
	}
}

func matches(e, fields object) bool {
	for name, want := range fields {
		if e[name] != want {
			return false
		}
	}
	return true
}

func only(events []object, fields object) []object {
	var found []object
	for _, e := range events {
		if matches(e, fields) {
			found = append(found, e)
		}
	}
	return found
}

// dig follows keys into nested objects; 0 and so on is an index.
func dig(value any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			o, _ := value.(object)
			value = o[step]
		case int:
			list, _ := value.([]any)
			if step >= len(list) {
				return nil
			}
			value = list[step]
		}
	}
	return value
}

func indent(v any) string {
	text, _ := json.MarshalIndent(v, "", " ")
	return string(text)
}

// worked checks the requests of one prompt that ran one command.
func worked(t *testing.T, srv *Server, format Format, prompt, output string) {
	t.Helper()
	requests := srv.Requests()
	if len(requests) != 2 {
		t.Fatalf("%d requests, want 2: %+v", len(requests), requests)
	}
	for _, r := range requests {
		if r.Format != format || !r.Stream || r.Outcome != Answered {
			t.Errorf("request %d: format %s, stream %v, outcome %s", r.N, r.Format, r.Stream, r.Outcome)
		}
		if !strings.Contains(r.Text(User), prompt) {
			t.Errorf("request %d does not hold the prompt: %+v", r.N, r.Messages)
		}
		if r.Text(System) == "" {
			t.Errorf("request %d has no words of the system", r.N)
		}
	}
	if requests[0].Holds(output) {
		t.Errorf("the first request holds the output: %+v", requests[0].Messages)
	}
	if got := requests[1].Text(ToolOutput); !strings.Contains(got, output) {
		t.Errorf("the tool's output is %q, want %q", got, output)
	}
	if got := requests[1].Text(Assistant); got != "I look." {
		t.Errorf("the conversation has %q as the model's words", got)
	}
}

// oneCommand is a prompt's work: the output is put together by the shell, so that only a shell can
// have made it.
func oneCommand() Script {
	return PerContext(
		Step{Text: "I look.", Chunks: 2, Tools: []ToolCall{Bash(`printf %s- really ran | tee proof.txt`)}, Usage: Usage{In: 900, Out: 30, CacheRead: 500}},
		Step{Text: "All done.", Chunks: 3, Usage: Usage{In: 950, Out: 7, CacheRead: 600, CacheWrite: 11}},
	)
}

const output = "really-ran-"

func TestRealPiRunsCommand(t *testing.T) {
	for _, format := range []Format{Chat, Responses, Messages} {
		t.Run(string(format), func(t *testing.T) {
			srv := Start(t, oneCommand())
			env, flags := PiHome(t, srv)
			pi := start(t, "pi", env, append(flags, "--mode", "rpc", "--model", PiModel(format))...)
			pi.send(object{"id": "1", "type": "prompt", "message": "do the work"})
			events := pi.until(object{"type": "agent_settled"})
			pi.leave()

			pi.wrote("proof.txt", output)
			worked(t, srv, format, "do the work", output)
			var answers []any
			for _, e := range only(events, object{"type": "message_end"}) {
				if dig(e, "message", "role") == "assistant" {
					answers = append(answers, e["message"])
				}
			}
			if len(answers) != 2 {
				t.Fatalf("%d answers of the model: %s", len(answers), indent(answers))
			}
			last := answers[1]
			if dig(last, "stopReason") != "stop" || dig(last, "content", 0, "text") != "All done." {
				t.Errorf("the last answer: %s", indent(last))
			}
			got := fmt.Sprint(dig(last, "usage", "input"), dig(last, "usage", "output"), dig(last, "usage", "cacheRead"), dig(last, "usage", "cacheWrite"))
			if want := "950 7 600 11"; got != want {
				t.Errorf("usage %s, want %s", got, want)
			}
		})
	}
}

func TestRealPiIsSteered(t *testing.T) {
	finish := make(chan struct{})
	srv := Start(t, Sequence(Step{Text: "I look.", UntilEnd: finish}, Step{Text: "As you wish."}))
	env, flags := PiHome(t, srv)
	pi := start(t, "pi", env, append(flags, "--mode", "rpc")...)
	pi.send(object{"id": "1", "type": "prompt", "message": "do the work"})
	pi.until(object{"type": "message_update"})
	pi.send(object{"id": "2", "type": "steer", "message": "turn left"})
	pi.until(object{"type": "response", "id": "2", "success": true})
	close(finish)
	pi.until(object{"type": "agent_settled"})
	pi.leave()

	requests := srv.Requests()
	if len(requests) != 2 || requests[0].Holds("turn left") || !strings.Contains(requests[1].Text(User), "turn left") {
		t.Errorf("the steer did not reach the second request: %+v", requests)
	}
}

func TestRealPiForgetsOldSession(t *testing.T) {
	srv := Start(t, oneCommand())
	env, flags := PiHome(t, srv)
	pi := start(t, "pi", env, append(flags, "--mode", "rpc")...)
	pi.send(object{"id": "1", "type": "prompt", "message": "the first work"})
	pi.until(object{"type": "agent_settled"})
	pi.send(object{"id": "2", "type": "new_session"})
	pi.until(object{"type": "response", "id": "2", "success": true})
	pi.send(object{"id": "3", "type": "prompt", "message": "the second work"})
	pi.until(object{"type": "agent_settled"})
	pi.leave()

	requests := srv.Requests()
	if len(requests) != 4 {
		t.Fatalf("%d requests, want 4", len(requests))
	}
	fresh := requests[2]
	if !fresh.Holds("the second work") {
		t.Errorf("the prompt is missing: %+v", fresh.Messages)
	}
	for _, old := range []string{"the first work", output, "I look.", "All done."} {
		if fresh.Holds(old) || bytes.Contains(fresh.Body, []byte(old)) {
			t.Errorf("the fresh context holds %q: %s", old, fresh.Body)
		}
	}
}

// claude are the arguments of a headless run that reads its prompts from stdin.
var claude = []string{"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"}

func claudePrompt(text string) object {
	return object{"type": "user", "message": object{"role": "user", "content": []object{{"type": "text", "text": text}}}}
}

func TestRealClaudeRunsACommand(t *testing.T) {
	srv := Start(t, oneCommand())
	c := start(t, "claude", ClaudeHome(t, srv), "-p", "do the work", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions")
	c.in.Close()
	events := c.until(object{"type": "result"})
	c.leave()

	c.wrote("proof.txt", output)
	worked(t, srv, Messages, "do the work", output)
	for _, r := range srv.Requests() {
		if r.Model != "claude-opus-5-5" || !strings.HasPrefix(r.Path, "/v1/messages?beta=true") || r.Header.Get("X-Api-Key") != "made-up-key" {
			t.Errorf("request %d: model %s, path %s, key %q", r.N, r.Model, r.Path, r.Header.Get("X-Api-Key"))
		}
	}
	result := events[len(events)-1]
	if !matches(result, object{"subtype": "success", "is_error": false, "terminal_reason": "completed", "result": "All done.", "num_turns": 2.0}) {
		t.Errorf("the result: %s", indent(result))
	}
	got := fmt.Sprint(dig(result, "usage", "input_tokens"), dig(result, "usage", "output_tokens"),
		dig(result, "usage", "cache_read_input_tokens"), dig(result, "usage", "cache_creation_input_tokens"))
	if want := "1850 37 1100 11"; got != want {
		t.Errorf("usage %s, want %s", got, want)
	}
}

func TestRealClaudeIsSteered(t *testing.T) {
	srv := Start(t, Sequence(
		Step{Text: "I look.", Tools: []ToolCall{Bash("cat gate")}},
		Step{Text: "As you wish."},
	))
	c := start(t, "claude", ClaudeHome(t, srv), claude...)
	gate := filepath.Join(c.work, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	c.send(claudePrompt("do the work"))

	tool := openGate(t, gate)
	steer := claudePrompt("turn left")
	steer["uuid"] = "0b0f3c1e-8f1d-4a57-9a43-6b1f2f0d7a11"
	c.send(steer)
	c.until(object{"type": "command_lifecycle", "command_uuid": steer["uuid"], "state": "queued"})
	tool.WriteString("gone through")
	tool.Close()
	c.until(object{"type": "result", "subtype": "success"})
	c.leave()

	requests := srv.Requests()
	if len(requests) != 2 || requests[0].Holds("turn left") {
		t.Fatalf("got %d requests: %+v", len(requests), requests)
	}
	if got := requests[1].Text(ToolOutput); got != "gone through" {
		t.Errorf("the tool's output is %q", got)
	}
	if got := requests[1].Text(System, User); !strings.Contains(got, "turn left") {
		t.Errorf("the steer did not reach the second request: %s", got)
	}
}

// openGate opens a named pipe for writing, which succeeds once it has a reader.
func openGate(t *testing.T, path string) *os.File {
	t.Helper()
	type opened struct {
		file *os.File
		err  error
	}
	gate := make(chan opened, 1)
	go func() {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		gate <- opened{file, err}
	}()
	select {
	case o := <-gate:
		if o.err != nil {
			t.Fatal(o.err)
		}
		return o.file
	case <-within(t).Done():
		t.Fatal("the tool does not run")
		return nil
	}
}

func TestRealClaudeObeysRetryAfter(t *testing.T) {
	srv := Start(t, Sequence(Limited(2*time.Second), Step{Text: "All done."}))
	c := start(t, "claude", ClaudeHome(t, srv), "-p", "do the work", "--output-format", "stream-json", "--verbose")
	c.in.Close()
	events := c.until(object{"type": "result"})
	c.leave()

	retries := only(events, object{"type": "system", "subtype": "api_retry"})
	if len(retries) != 1 || !matches(retries[0], object{"error_status": 429.0, "error": "rate_limit"}) {
		t.Fatalf("retries: %s", indent(retries))
	}
	// It adds some of its own; without the header it would begin with half a second.
	if delay, _ := retries[0]["retry_delay_ms"].(float64); delay < 2000 || delay > 3000 {
		t.Errorf("it waits %v ms", delay)
	}
	if result := events[len(events)-1]; result["result"] != "All done." {
		t.Errorf("the result: %s", indent(result))
	}
}

func TestRealAgentsNoticeDroppedStream(t *testing.T) {
	dropped := func() Script {
		return Sequence(Step{Text: "half an ans", Chunks: 2, Drop: true}, Step{Text: "All done."})
	}
	check := func(t *testing.T, srv *Server) {
		requests := srv.Requests()
		if len(requests) != 2 || requests[0].Outcome != Dropped || requests[1].Outcome != Answered {
			t.Errorf("got %d requests: %+v", len(requests), requests)
		}
	}
	t.Run("pi", func(t *testing.T) {
		srv := Start(t, dropped())
		env, flags := PiHome(t, srv)
		pi := start(t, "pi", env, append(flags, "--mode", "rpc")...)
		pi.send(object{"id": "1", "type": "prompt", "message": "do the work"})
		pi.until(object{"type": "agent_end", "willRetry": true})
		pi.until(object{"type": "agent_settled"})
		pi.leave()
		check(t, srv)
	})
	t.Run("claude", func(t *testing.T) {
		srv := Start(t, dropped())
		c := start(t, "claude", ClaudeHome(t, srv), "-p", "do the work", "--output-format", "stream-json", "--verbose")
		c.in.Close()
		events := c.until(object{"type": "result", "result": "All done."})
		c.leave()
		if retries := only(events, object{"type": "system", "subtype": "api_retry", "error_status": nil}); len(retries) != 1 {
			t.Errorf("retries: %s", indent(retries))
		}
		check(t, srv)
	})
}
