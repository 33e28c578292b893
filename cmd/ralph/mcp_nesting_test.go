//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The agent of a loop may not start another in the same folder, and not stop its own loop, as with
// 'ralph stop': the tool ralph_ask, and the verbs wait and blocked, are what it has.
func TestMCPWithinLoop(t *testing.T) {
	t.Parallel()
	p := mcpPlace(t, "iteration\n  run ralph mcp < calls > said\n  say I go on.\n")
	p.must(os.WriteFile(filepath.Join(p.dir, "calls"), []byte(
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"inner","version":"1"}}}`+"\n"+
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ralph_start","arguments":{"name":"deep","prompt":"x"}}}`+"\n"+
			`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"ralph_stop","arguments":{"loop":"night"}}}`+"\n"), 0o600))
	call[shownLoop](p, p.client(nil), "ralph_start", map[string]any{"name": "night", "prompt": "x", "maxIterations": 1})
	p.until("the end", func() bool { return p.dead("night") })
	said, err := os.ReadFile(filepath.Join(p.dir, "said"))
	p.must(err)
	if strings.Count(string(said), `"isError":true`) != 2 || !strings.Contains(string(said), "next step: ") ||
		!strings.Contains(string(said), "an agent cannot give its own loop a stop") {
		t.Errorf("the answers are %s", said)
	}
	if status := p.fine("status", "night", "--json"); !strings.Contains(status, `"reason":"iterations"`) {
		t.Errorf("after the stop that was refused: %s", status)
	}
	if loops := p.fine("list", "--all", "--json"); strings.Contains(loops, `"deep"`) {
		t.Errorf("the loops are %s", loops)
	}
}
