package runner

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/credentials"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
)

// Which keys reach an agent, in separate homes with made-up logins.
func TestAgentKeys(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("this would ask the keychain of this user")
	}
	home := t.TempDir()
	for name, text := range map[string]string{
		"claude/.claude/.credentials.json": `{"made": "up"}`, "codex/.codex/auth.json": `{"made": "up"}`,
		"moved/.credentials.json": `{"made": "up"}`, "out/.claude/.credentials.json": "{}\n",
		"ring/.codex/config.toml": "model = 'x'\ncli_auth_credentials_store = \"keyring\" # not a file\n",
		"file/.codex/config.toml": "cli_auth_credentials_store = \"file\"\n[x]\ncli_auth_credentials_store = \"keyring\"\n",
		"none/.profile":           "",
	} {
		path := filepath.Join(home, name)
		testfile.Write(t, path, text)
	}
	for name, row := range map[string]struct {
		agent    config.Agent
		home     string
		more     []string
		why      string
		passed   string
		withheld string
	}{
		"no login":                      {config.Agent{Command: "claude"}, "none", nil, credentials.KeysForNoLogin, "ANTHROPIC_API_KEY", ""},
		"a login":                       {config.Agent{Command: "claude"}, "claude", nil, credentials.KeysForLogin, "", "ANTHROPIC_API_KEY"},
		"another agent's login":         {config.Agent{Command: "claude"}, "codex", nil, credentials.KeysForNoLogin, "ANTHROPIC_API_KEY", ""},
		"a login that is logged out":    {config.Agent{Command: "claude"}, "out", nil, credentials.KeysForNoLogin, "ANTHROPIC_API_KEY", ""},
		"a folder of its own":           {config.Agent{Command: "claude"}, "none", []string{"CLAUDE_CONFIG_DIR=" + filepath.Join(home, "moved")}, credentials.KeysForLogin, "", "ANTHROPIC_API_KEY"},
		"a folder without a login":      {config.Agent{Command: "claude"}, "claude", []string{"CLAUDE_CONFIG_DIR=" + filepath.Join(home, "none")}, credentials.KeysForNoLogin, "ANTHROPIC_API_KEY", ""},
		"a folder by its env":           {config.Agent{Command: "claude", Env: map[string]string{"CLAUDE_CONFIG_DIR": filepath.Join(home, "moved")}}, "none", nil, credentials.KeysForLogin, "", "ANTHROPIC_API_KEY"},
		"a token of the login":          {config.Agent{Command: "claude"}, "none", []string{"CLAUDE_CODE_OAUTH_TOKEN=made-up"}, credentials.KeysForLogin, "", "ANTHROPIC_API_KEY"},
		"no home":                       {config.Agent{Command: "claude"}, "", nil, credentials.KeysForUnknown, "", "ANTHROPIC_API_KEY"},
		"a setting against no login":    {config.Agent{Command: "claude", PassKeys: "false"}, "none", nil, credentials.KeysBySetting, "", "ANTHROPIC_API_KEY"},
		"a setting against a login":     {config.Agent{Command: "claude", PassKeys: "true"}, "claude", nil, credentials.KeysBySetting, "ANTHROPIC_API_KEY", ""},
		"one that is named":             {config.Agent{Command: "codex", PassKeys: "CODEX_API_KEY"}, "codex", nil, credentials.KeysBySetting, "CODEX_API_KEY", "OPENAI_API_KEY"},
		"codex with a login":            {config.Agent{Command: "codex"}, "codex", nil, credentials.KeysForLogin, "", "OPENAI_API_KEY CODEX_API_KEY"},
		"codex without one":             {config.Agent{Command: "codex"}, "none", nil, credentials.KeysForNoLogin, "OPENAI_API_KEY CODEX_API_KEY", ""},
		"codex, moved":                  {config.Agent{Command: "codex"}, "none", []string{"CODEX_HOME=" + filepath.Join(home, "codex", ".codex")}, credentials.KeysForLogin, "", "OPENAI_API_KEY CODEX_API_KEY"},
		"codex with a keyring":          {config.Agent{Command: "codex"}, "ring", nil, credentials.KeysForUnknown, "", "OPENAI_API_KEY CODEX_API_KEY"},
		"codex, set to use its file":    {config.Agent{Command: "codex"}, "file", nil, credentials.KeysForNoLogin, "OPENAI_API_KEY CODEX_API_KEY", ""},
		"a key of its env's own":        {config.Agent{Command: "claude", Env: map[string]string{"ANTHROPIC_API_KEY": "mine"}}, "claude", nil, "", "", ""},
		"what speaks for claude":        {config.Agent{Command: "claude-agent-acp"}, "claude", nil, credentials.KeysForLogin, "", "ANTHROPIC_API_KEY"},
		"an agent with a login and all": {config.Agent{Command: "pi"}, "claude", nil, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			env := append([]string{"ANTHROPIC_API_KEY=made-up-a", "OPENAI_API_KEY=made-up-b", "CODEX_API_KEY=made-up-c", "ANTHROPIC_AUTH_TOKEN="}, row.more...)
			if row.home != "" {
				env = append(env, "HOME="+filepath.Join(home, row.home))
			}
			r := of(row.agent, env...)
			about := r.about()[0]
			var why, passed, withheld string
			if k := about.Keys; k != nil {
				why, passed, withheld = k.Why, strings.Join(k.Passed, " "), strings.Join(k.Withheld, " ")
			}
			if why != row.why || passed != row.passed || withheld != row.withheld {
				t.Errorf("passed %q, withheld %q because %q", passed, withheld, why)
			}
			cfg, err := r.agent(0, agent.Prompt{Text: "go", Iteration: 1})
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range strings.Fields(row.withheld) {
				if slices.ContainsFunc(cfg.Env, func(entry string) bool { return strings.HasPrefix(entry, name+"=") }) {
					t.Errorf("%s reaches the agent", name)
				}
				if !strings.Contains(about.Login, name) || !strings.Contains(about.Login, "withheld") {
					t.Errorf("the hint to log in is %q", about.Login)
				}
			}
			for _, name := range strings.Fields(row.passed) {
				if !slices.ContainsFunc(cfg.Env, func(entry string) bool { return strings.HasPrefix(entry, name+"=made-up") }) {
					t.Errorf("%s does not reach the agent", name)
				}
			}
			if says := r.keys[0].Message("it"); strings.Contains(says, "made-up") || (says == "") != (why == "" || why == credentials.KeysBySetting) {
				t.Errorf("it says %q", says)
			}
		})
	}
}
