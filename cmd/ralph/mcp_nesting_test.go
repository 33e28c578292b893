//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The agent of a loop may not start another in the same folder, and it may stop its own loop, as
// with 'ralph stop'.
func TestMCPWithinLoop(t *testing.T) {
	t.Parallel()
	p := mcpPlace(t, "iteration\n  run ralph mcp < calls > said\n  say I go on.\n")
	p.must(os.WriteFile(filepath.Join(p.dir, "calls"), []byte(
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"inner","version":"1"}}}`+"\n"+
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ralph_start","arguments":{"name":"deep","prompt":"x"}}}`+"\n"+
			`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"ralph_stop","arguments":{"loop":"night"}}}`+"\n"), 0o600))
	call[shownLoop](p, p.client(nil), "ralph_start", map[string]any{"name": "night", "prompt": "x", "maxIterations": 9})
	p.until("the end", func() bool { return p.dead("night") })
	said, err := os.ReadFile(filepath.Join(p.dir, "said"))
	p.must(err)
	if !strings.Contains(string(said), `"isError":true`) || !strings.Contains(string(said), "next step: ") {
		t.Errorf("the answers are %s", said)
	}
	if status := p.fine("status", "night", "--json"); !strings.Contains(status, `"status":"stopped"`) {
		t.Errorf("after its own stop: %s\n%s", status, said)
	}
	if loops := p.fine("list", "--all", "--json"); strings.Contains(loops, `"deep"`) {
		t.Errorf("the loops are %s", loops)
	}
}
