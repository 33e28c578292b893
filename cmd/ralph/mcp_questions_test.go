//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An agent asks with the tool of a server that it started; a client of another server answers,
// once. The agent cannot.
func TestMCPQuestions(t *testing.T) {
	t.Parallel()
	p := mcpPlace(t, "iteration\n  run ralph mcp < calls > said\n  sleep 300s\n")
	tool := func(id, name, arguments string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + `}}` + "\n"
	}
	p.must(os.WriteFile(filepath.Join(p.dir, "calls"), []byte(
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"inner","version":"1"}}}`+"\n"+
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+
			tool("2", "ralph_ask", `{"text":"Postgres or SQLite?","choices":["postgres","sqlite"],"blocks":true}`)+
			tool("3", "ralph_answer", `{"loop":"night","number":1,"text":"postgres"}`)), 0o600))
	s := p.client(nil)
	begun := call[shownLoop](p, s, "ralph_start", map[string]any{"name": "night", "prompt": "ask"})
	p.until("the question is asked, and the agent's own answer refused", func() bool {
		said, _ := os.ReadFile(filepath.Join(p.dir, "said"))
		return strings.Contains(string(said), `"id":2`) && strings.Contains(string(said), "an agent cannot answer its own questions")
	})

	type asked struct {
		NextStep  string
		Questions []struct {
			Number  int
			Text    string
			Choices []string
			Blocks  bool
		}
	}
	shown := call[asked](p, s, "ralph_status", map[string]any{"loop": begun.ID})
	if len(shown.Questions) != 1 || shown.Questions[0].Number != 1 || len(shown.Questions[0].Choices) != 2 || !shown.Questions[0].Blocks {
		t.Fatalf("the status: %+v", shown)
	}
	if !strings.Contains(shown.NextStep, "ralph_answer with number 1 answers question 1") {
		t.Errorf("the next step is %q", shown.NextStep)
	}
	answered := call[struct{ Question int }](p, s, "ralph_answer", map[string]any{"loop": begun.ID, "number": 1, "text": "postgres"})
	if answered.Question != 1 {
		t.Errorf("the answer: %+v", answered)
	}
	if after := call[asked](p, s, "ralph_status", map[string]any{"loop": begun.ID}); len(after.Questions) != 0 {
		t.Errorf("after the answer: %+v", after)
	}
	call[struct{ Outcome string }](p, s, "ralph_stop", map[string]any{"loop": "night", "now": true})
}
