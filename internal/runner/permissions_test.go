package runner

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/config"
)

// Each agent says what it may do, and which permissions it cannot be held to. Those that can are tried in the tests of the real agents.
func TestPermissionsOfEachAgent(t *testing.T) {
	for _, row := range []struct {
		command        string
		workspace, ask bool // it can be held to
	}{
		{"claude", true, true},
		{"codex", true, true},
		{"codex exec", true, true},
		{"pi", false, false},
		{"amp", false, false},
		{"gemini", true, true},
		{"qwen", true, true},
		{"copilot", true, true},
		{"claude-agent-acp", false, false},
		{"codex-acp", false, false},
		{"opencode", false, false},
		{"pi-acp", false, false},
		{"goose", false, false},
		{"./work.sh", false, false},
	} {
		for permissions, held := range map[string]bool{"": true, "full": true, "workspace": row.workspace, "ask": row.ask} {
			a := config.Agent{Command: row.command, Permissions: permissions}
			_, command, err := Prepared(a, nil)
			if err != nil {
				t.Fatal(err)
			}
			if command.Lax == held {
				t.Errorf("%s, %q: lax is %v, it may do %q", row.command, permissions, command.Lax, command.May)
			}
			if command.May == "" && a.ResolvedProtocol() != config.ProtocolText {
				t.Errorf("%s, %q: nothing is said of what it may do", row.command, permissions)
			}
		}
	}
}
