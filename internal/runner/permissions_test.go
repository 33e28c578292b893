package runner

import (
	"fmt"
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/config"
)

// Each agent says what it may do, and which permissions it cannot enforce. The tests of the real
// agents check those that it can enforce.
func TestPermissionsOfEachAgent(t *testing.T) {
	for _, row := range []struct {
		command        string
		workspace, ask bool // it can enforce it
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
			_, command, err := Prepared(a, t.TempDir(), nil)
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

// A setting that the agent does not support is refused before the loop begins.
func TestForeignAgentSettingsAreRefused(t *testing.T) {
	for _, row := range []struct {
		agent config.Agent
		want  string
	}{
		{config.Agent{Command: "pi", Extensions: []string{"a"}, Skills: []string{"b"}, SessionDir: "c", Session: "d"}, ""},
		{config.Agent{Command: "claude", Session: "d"}, ""},
		{config.Agent{Command: "claude", Skills: []string{"b"}}, "agents.claude.skills is of pi, and claude uses protocol claude: leave it out"},
		{config.Agent{Command: "codex", Extensions: []string{"b"}}, "agents.codex.extensions is of pi, and codex uses protocol codex: leave it out"},
		{config.Agent{Command: "./work.sh", SessionDir: "b"}, "agents.work.sessionDir is of pi, and ./work.sh uses protocol text: leave it out"},
		{config.Agent{Command: "codex", Session: "b"}, "agents.codex.session: an agent of protocol codex cannot go on from an earlier session: leave it out"},
		{config.Agent{Command: "qwen", Protocol: "claude", Session: "b"}, "agents.qwen.session: an agent of protocol claude cannot go on from an earlier session: leave it out"},
	} {
		_, _, err := Prepared(row.agent, t.TempDir(), nil)
		if got := fmt.Sprint(err); err != nil && got != row.want || err == nil && row.want != "" {
			t.Errorf("%+v: %v, want %q", row.agent, err, row.want)
		}
	}
}
