package planning

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/config"
)

// The arguments of the settings are those of a loop; those of --agent are meant for the interview.
func TestCommandOfAConversation(t *testing.T) {
	for _, row := range []struct {
		settings, flag string
		want           []string
	}{
		{"claude --dangerously-skip-permissions", "", []string{"claude", "hi"}},
		{"", "claude --model opus", []string{"claude", "--model", "opus", "hi"}},
		{"npx -y @openai/codex exec", "", []string{"npx", "-y", "@openai/codex", "hi"}},
		{"opencode acp", "", []string{"opencode", "--prompt", "hi"}},
		{"", "gemini -m pro", []string{"gemini", "-m", "pro", "-i", "hi"}},
		{"./agent.sh --quick", "", []string{"./agent.sh", "--quick", "hi"}},
		{"amp", "", nil},
		{"claude-agent-acp", "", nil},
	} {
		command := row.settings + row.flag
		got, err := (&Interview{Agent: row.flag}).words(config.Agent{Command: command, Flags: []string{"--print"}}, "hi")
		if row.want == nil {
			if err == nil || !strings.Contains(err.Error(), "cannot begin a conversation") {
				t.Errorf("%s: %q, %v", command, got, err)
			}
			continue
		}
		if err != nil || !slices.Equal(got, row.want) {
			t.Errorf("%s: %q, %v", command, got, err)
		}
	}
}
