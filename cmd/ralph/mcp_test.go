//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-loop/ralph/internal/front/cli"
)

// waitingAgent works until it is ended.
const waitingAgent = "iteration\n  say I wait.\n  steered -> say I heard: {steer}\n  sleep 300s\n"

// mcpPlace is a place whose settings name a rehearsal, since a client gives no command.
func mcpPlace(t *testing.T, scenario string) *place {
	t.Helper()
	p := newPlace(t)
	work := filepath.Join(p.dir, "work.rehearsal")
	p.must(os.WriteFile(work, []byte(scenario), 0o600))
	p.settings(p.home, `{"agent":"ralph rehearse `+work+`"}`)
	return p
}

// settings writes a settings file.
func (p *place) settings(folder, text string) {
	p.Helper()
	p.must(os.MkdirAll(folder, 0o700))
	p.must(os.WriteFile(filepath.Join(folder, "settings.json"), []byte(text), 0o600))
}

// client connects the SDK's own client with a server of its own.
func (p *place) client(o *sdk.ClientOptions, args ...string) *sdk.ClientSession {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), patience)
	p.Cleanup(cancel)
	client := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, o)
	session, err := client.Connect(ctx, &sdk.CommandTransport{Command: p.command(append([]string{"mcp"}, args...)...)}, nil)
	p.must(err)
	p.Cleanup(func() { _ = session.Close() })
	return session
}

// call calls a tool and decodes its structured answer.
func call[T any](p *place, s *sdk.ClientSession, tool string, arguments map[string]any) (answer T) {
	p.Helper()
	result, err := s.CallTool(p.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	p.must(err)
	if result.IsError {
		p.Fatalf("%s: %s", tool, textOf(result))
	}
	structured, err := json.Marshal(result.StructuredContent)
	p.must(err)
	p.must(json.Unmarshal(structured, &answer))
	return answer
}

func textOf(result *sdk.CallToolResult) string {
	var all strings.Builder
	for _, c := range result.Content {
		if text, ok := c.(*sdk.TextContent); ok {
			all.WriteString(text.Text)
		}
	}
	return all.String()
}

type shownLoop struct {
	ID, Name, Status, State, NextStep string
	Alive                             bool
	Resources                         []string
}

// A client starts a loop, looks at it, steers it, reads it and stops it; the server's end is not
// the loop's.
func TestMCPServesLoops(t *testing.T) {
	t.Parallel()
	p := mcpPlace(t, waitingAgent)
	s := p.client(nil)
	if can := s.InitializeResult().Capabilities; can.Tools.ListChanged || can.Resources.ListChanged || !can.Resources.Subscribe {
		t.Errorf("it promises %+v, %+v", can.Tools, can.Resources)
	}
	begun := call[shownLoop](p, s, "ralph_start", map[string]any{"name": "night", "prompt": "wait", "maxIterations": 3, "maxCost": 2.5})
	if !begun.Alive || begun.Name != "night" {
		t.Fatalf("it started %+v", begun)
	}
	again, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "ralph_start", Arguments: map[string]any{"name": "night", "resume": true}})
	p.must(err)
	if text := textOf(again); !again.IsError || !strings.Contains(text, "loop night is already run by pid ") || !strings.Contains(text, "\nnext step: ") {
		t.Errorf("resumed as it runs: %s", text)
	}
	if state := p.fine("status", "night", "--json"); !strings.Contains(state, `"maximumIterations":3`) {
		t.Errorf("the limit is not in %s", state)
	}
	updated := make(chan string, 100)
	watcher := p.client(&sdk.ClientOptions{ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI }})
	p.must(watcher.Subscribe(t.Context(), &sdk.SubscribeParams{URI: begun.Resources[0]}))
	notified := func() {
		t.Helper()
		select {
		case uri := <-updated:
			if uri != begun.Resources[0] {
				t.Errorf("notified of %s", uri)
			}
		case <-time.After(patience):
			t.Fatal("no notification came")
		}
	}
	notified() // the subscription is in effect
	sent := call[struct{ Outcome, Loop string }](p, s, "ralph_steer", map[string]any{"loop": begun.ID, "text": "leave the schema alone"})
	if sent.Loop != begun.ID || sent.Outcome != "delivered" && sent.Outcome != "received" {
		t.Errorf("the steer: %+v", sent)
	}
	notified()
	p.fine("logs", "night", "--grep", "leave the schema alone", "--type", "command.received")
	if received := p.fine("logs", "night", "--json", "--type", "command.received"); !strings.Contains(received, `"from":"mcp:tester"`) {
		t.Errorf("the sender is missing: %s", received)
	}
	page := call[struct {
		Events []struct{ Type, Text string }
		Next   string
		More   bool
	}](p, s, "ralph_logs", map[string]any{"loop": "night", "cursor": "0", "limit": 2})
	if len(page.Events) != 2 || page.Next != "2" || !page.More || page.Events[0].Type != "loop.started" && page.Events[1].Type != "loop.started" {
		t.Errorf("the first page: %+v", page)
	}
	if said := fmt.Sprint(page.Events); !strings.Contains(said, "name=night") {
		t.Errorf("the events have no text: %s", said)
	}
	state, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: begun.Resources[0]})
	if err != nil || !strings.Contains(state.Contents[0].Text, `"name":"night"`) {
		t.Errorf("the state: %+v, %v", state, err)
	}
	report := call[struct{ Markdown string }](p, s, "ralph_report", map[string]any{})
	if !strings.HasPrefix(report.Markdown, "# night") {
		t.Errorf("the report: %s", report.Markdown)
	}
	p.must(s.Close())
	if p.dead("night") {
		t.Fatal("the loop has ended with the server")
	}
	call[struct{ Outcome string }](p, watcher, "ralph_stop", map[string]any{"loop": "night", "now": true})
	p.until("the end", func() bool { return p.dead("night") })
	if ended := call[shownLoop](p, watcher, "ralph_status", nil); ended.Alive || ended.Status != "stopped" {
		t.Errorf("after the stop: %+v", ended)
	}
}

// What a client may not do is refused with the thing, the cause and the next step.
func TestMCPRefusesCalls(t *testing.T) {
	t.Parallel()
	p := mcpPlace(t, waitingAgent)
	s := p.client(nil)
	for name, row := range map[string]struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		"a path":           {"ralph_status", map[string]any{"loop": p.dir + "/.ralph/night"}, "is a path; a loop is named by its id"},
		"a way out":        {"ralph_logs", map[string]any{"loop": "../other"}, "next step: ralph_list"},
		"an unknown loop":  {"ralph_stop", map[string]any{"loop": "none"}, `there is no loop "none" here` + "\nnext step: ralph_list with all"},
		"a command":        {"ralph_start", map[string]any{"prompt": "x", "agent": "sh -c id"}, "is no agent that ralph knows"},
		"another folder":   {"ralph_start", map[string]any{"prompt": "x", "directory": "/"}, "nor in a root of the client"},
		"a path as a name": {"ralph_start", map[string]any{"prompt": "x", "name": "../x"}, "must begin with a-z or 0-9"},
		"no prompt":        {"ralph_start", map[string]any{"prompt": "  "}, "the prompt is empty\nnext step: say in it what is to be done"},
		"stdin":            {"ralph_start", map[string]any{"prompt": "-"}, "the prompt is empty"},
		"a wrong limit":    {"ralph_start", map[string]any{"prompt": "x", "maxDuration": "soon"}, `maxDuration: "soon"`},
		"a wrong name":     {"ralph_start", map[string]any{"prompt": "x", "name": "Night"}, "must begin with a-z or 0-9\nnext step: "},
		"a long name":      {"ralph_start", map[string]any{"prompt": "x", "name": strings.Repeat("n", 2000)}, "name has more than 1.0 kB\nnext step: "},
		"a long model":     {"ralph_start", map[string]any{"prompt": "x", "model": strings.Repeat("m", 2000)}, "model has more than"},
		"an option":        {"ralph_start", map[string]any{"prompt": "x", "model": "--yolo"}, `"--yolo" is no model`},
		"a long promise":   {"ralph_start", map[string]any{"prompt": "x", "promise": strings.Repeat("p", 2000)}, "promise has more than"},
		"a long type":      {"ralph_logs", map[string]any{"types": []string{strings.Repeat("t", 2000)}}, "has more than 1.0 kB"},
		"a long range":     {"ralph_logs", map[string]any{"iterations": strings.Repeat("1", 2000)}, "has more than 1.0 kB"},
		"a strange loop":   {"ralph_status", map[string]any{"loop": "a\x1bb"}, "may hold only a-z, 0-9, '.', '_' and '-'\nnext step: ralph_list"},
		"a wrong type":     {"ralph_logs", map[string]any{"types": []string{"tool"}}, `did you mean "tool."?`},
		"a wrong cursor":   {"ralph_list", map[string]any{"cursor": "x"}, `"x" is no cursor`},
		"too many":         {"ralph_list", map[string]any{"limit": 1000}, "from 1 to 200"},
	} {
		result, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: row.tool, Arguments: row.arguments})
		p.must(err)
		if !result.IsError || !strings.Contains(textOf(result), row.want) {
			t.Errorf("%s: %s", name, textOf(result))
		}
	}
	if loops := p.fine("list", "--json"); strings.TrimSpace(loops) != "[]" {
		t.Errorf("there are loops: %s", loops)
	}
}

// Settings of a project that no person trusts are not run because a client asks.
func TestMCPAsksForTrust(t *testing.T) {
	t.Parallel()
	p := mcpPlace(t, waitingAgent)
	p.untrusted = true
	p.settings(filepath.Join(p.dir, cli.RalphFolder), `{"guardrails":[{"command":"touch evil"}]}`)
	result, err := p.client(nil).CallTool(t.Context(), &sdk.CallToolParams{Name: "ralph_start", Arguments: map[string]any{"prompt": "x"}})
	p.must(err)
	if text := textOf(result); !result.IsError || !strings.Contains(text, "are not trusted yet") || !strings.Contains(text, "touch evil") {
		t.Errorf("the answer is %s", text)
	}
	if _, _, code := p.ralph("status"); code == 0 {
		t.Error("a loop was started")
	}
}

// A server that only reads has no tool that changes anything.
func TestMCPReadOnly(t *testing.T) {
	t.Parallel()
	p := mcpPlace(t, waitingAgent)
	tools, err := p.client(nil, "--read-only").ListTools(t.Context(), nil)
	p.must(err)
	for _, tool := range tools.Tools {
		if !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s is offered", tool.Name)
		}
	}
	for _, tool := range tools.Tools {
		if schema := fmt.Sprint(tool.InputSchema); strings.Contains(schema, "null") { // not every model provider takes it
			t.Errorf("%s takes null: %s", tool.Name, schema)
		}
	}
	if len(tools.Tools) != 4 {
		t.Errorf("%d tools", len(tools.Tools))
	}
}

// rawClient speaks with a server in lines.
type rawClient struct {
	*place
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	pipe io.Closer // what out reads
	meta string    // of the requests of asked, as JSON; empty for versions with initialize
}

func (p *place) rawClient() *rawClient { return p.rawClientWith("{}") }

func (p *place) rawClientWith(capabilities string) *rawClient {
	p.Helper()
	r := p.rawClientOnly()
	r.say(`{"jsonrpc":"2.0","id":"first","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":` + capabilities + `,"clientInfo":{"name":"raw","version":"1"}}}`)
	r.hears(`"id":"first"`)
	r.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return r
}

func (p *place) rawClientOnly() *rawClient {
	p.Helper()
	r := &rawClient{place: p, cmd: p.command("mcp")}
	in, err := r.cmd.StdinPipe()
	p.must(err)
	out, err := r.cmd.StdoutPipe()
	p.must(err)
	r.in, r.out, r.pipe = in, bufio.NewReader(out), out
	p.must(r.cmd.Start())
	p.Cleanup(func() { _, _ = r.cmd.Process.Kill(), r.cmd.Wait() })
	return r
}

func (r *rawClient) say(line string) {
	r.Helper()
	_, err := io.WriteString(r.in, line+"\n")
	r.must(err)
}

// hears reads lines until one has the text.
func (r *rawClient) hears(want string) string {
	r.Helper()
	for {
		line, err := r.out.ReadString('\n')
		if err != nil {
			r.Fatalf("waited for %s: %v", want, err)
		}
		if strings.Contains(line, want) {
			return line
		}
	}
}

// What is no message, too long or too much is answered, and the next call is served.
func TestMCPSurvivesHostileClient(t *testing.T) {
	t.Parallel()
	r := mcpPlace(t, waitingAgent).rawClient()
	const list = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"ralph_list","arguments":{}}}`
	for line, want := range map[string]string{
		"{not json":                                      "-32700",
		`[` + fmt.Sprintf(list, 1) + `]`:                 "batches are not served",
		`{"jsonrpc":"2.0"}`:                              "-32600",
		"\x00\xff\u009b31m":                              "-32700",
		strings.Repeat("[", 100_000):                     "batches are not served",
		`{"jsonrpc":"2.0","id":2,"method":"no/such"}`:    `"id":2`,
		`"` + strings.Repeat("x", 100<<20) + `"`:         "a message has more than",
		`{"jsonrpc":"2.0","id":3,"method":"tools/call"}`: `"id":3`,
	} {
		r.say(line)
		if answer := r.hears(want); !strings.Contains(answer, `"error"`) || strings.ContainsAny(answer, "\x00\u009b") || !utf8.ValidString(answer) {
			t.Errorf("the answer is %q", answer)
		}
	}
	const flood = 2000
	go func() {
		for i := range flood {
			if _, err := fmt.Fprintf(r.in, list+"\n", 1000+i); err != nil {
				return
			}
		}
	}()
	served := 0
	for range flood {
		line, err := r.out.ReadString('\n')
		r.must(err)
		if strings.Contains(line, `"total":0`) {
			served++
		} else if !strings.Contains(line, "calls are open") {
			t.Fatalf("an answer to the flood is %s", line)
		}
	}
	if served == 0 {
		t.Error("no call of the flood was served")
	}
	r.say(fmt.Sprintf(list, 9))
	r.hears(`"id":9`)
}

// The server ends with its stdin, also while it carries out a call; the loop that the call started
// lives on.
func TestMCPEndsWithStdin(t *testing.T) {
	t.Parallel()
	r := mcpPlace(t, waitingAgent).rawClient()
	other := r.rawClient() // at the same time
	r.say(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"ralph_start","arguments":{"name":"night","prompt":"wait"}}}`)
	r.until("the loop", func() bool { return !r.dead("night") })
	r.must(r.in.Close())
	_, _ = io.Copy(io.Discard, r.out)
	if err := r.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if r.dead("night") {
		t.Error("the loop has ended with its server")
	}
	other.say(`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"ralph_stop","arguments":{"loop":"night","now":true}}}`)
	other.hears(`"id":6`)
	r.until("the end", func() bool { return r.dead("night") })
}

// The server ends as well when its client no longer reads.
func TestMCPEndsWithStdout(t *testing.T) {
	t.Parallel()
	r := mcpPlace(t, waitingAgent).rawClient()
	r.must(r.pipe.Close())
	r.say(`{"jsonrpc":"2.0","id":5,"method":"ping"}`)
	if err := r.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// A loop whose folder is gone is shown as such, and no call finds it.
func TestMCPKnowsGoneLoops(t *testing.T) {
	t.Parallel()
	p := mcpPlace(t, waitingAgent)
	s := p.client(nil)
	begun := call[shownLoop](p, s, "ralph_start", map[string]any{"name": "night", "prompt": "wait"})
	call[struct{}](p, s, "ralph_stop", map[string]any{"now": true})
	p.until("the end", func() bool { return p.dead("night") })
	p.must(os.RemoveAll(filepath.Join(p.dir, cli.RalphFolder, "night")))
	list := call[struct{ Loops []shownLoop }](p, s, "ralph_list", nil)
	if len(list.Loops) != 1 || list.Loops[0].State != "gone" {
		t.Errorf("the list is %+v", list)
	}
	result, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "ralph_status", Arguments: map[string]any{"loop": begun.ID}})
	p.must(err)
	if text := textOf(result); !result.IsError || !strings.Contains(text, "the folder of loop night is gone") {
		t.Errorf("the status is %s", text)
	}
}
