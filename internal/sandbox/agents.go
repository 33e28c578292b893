package sandbox

import (
	"path/filepath"
	"strings"
)

// An agentState says where an agent keeps its own files, from the home folder: logins, sessions and
// what it has learned. Those that run programs or load code outside of the sandbox are only read.
type agentState struct {
	variable string // moves the first folder
	write    []string
	protect  []string // in the first folder
}

// agentStates are those of the agents that ralph knows, by the program. The places were observed
// with Claude Code 2.1.329, Codex 0.169.0 and pi 0.87.1; the others are those of their
// documentation.
var agentStates = map[string]agentState{
	"claude":   {"CLAUDE_CONFIG_DIR", []string{".claude", ".claude.json"}, []string{"settings.json", "settings.local.json", "hooks", "plugins", "agents", "commands", "skills", "CLAUDE.md"}},
	"codex":    {"CODEX_HOME", []string{".codex"}, []string{"config.toml", "hooks.json", "hooks", "plugins", "prompts", "skills", "AGENTS.md"}},
	"pi":       {"PI_CODING_AGENT_DIR", []string{".pi"}, []string{"settings.json", "extensions", "skills", "prompts", "agent/settings.json", "agent/extensions", "agent/skills", "agent/prompts"}},
	"gemini":   {"", []string{".gemini"}, []string{"settings.json", "extensions", "GEMINI.md"}},
	"qwen":     {"", []string{".qwen"}, []string{"settings.json", "extensions", "QWEN.md"}},
	"copilot":  {"", []string{".copilot"}, []string{"config.json", "mcp-config.json"}},
	"opencode": {"", []string{".local/share/opencode", ".local/state/opencode", ".config/opencode"}, nil},
	"amp":      {"", []string{".local/share/amp", ".config/amp"}, nil},
}

// StateOf returns the files of an agent's own that it may change, and which of them it may only
// read.
func StateOf(program, home string, env []string) (write, protect []string) {
	state := agentStates[strings.TrimSuffix(filepath.Base(program), ".exe")]
	for i, name := range state.write {
		path := filepath.Join(home, name)
		if moved := variable(env, state.variable); i == 0 && filepath.IsAbs(moved) {
			path = filepath.Clean(moved)
		}
		write = append(write, path)
		if i == 0 {
			for _, part := range state.protect {
				protect = append(protect, filepath.Join(path, part))
			}
		}
	}
	return write, protect
}

func variable(env []string, name string) (value string) {
	for _, entry := range env {
		if text, ok := strings.CutPrefix(entry, name+"="); ok && name != "" {
			value = text
		}
	}
	return value
}

// secrets are the files and folders of a person that hold logins or keys, from the home folder.
var secrets = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".pypirc", ".git-credentials", ".pgpass", ".password-store", ".vault-token", ".terraform.d",
	".config/gcloud", ".config/gh", ".config/glab-cli", ".config/op", ".config/rclone", ".config/hub", ".config/git/credentials", ".local/share/keyrings",
	".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", "Library/Keychains", "Library/Application Support/Google",
	".bash_history", ".zsh_history", ".python_history", ".psql_history", ".mysql_history", ".lesshst",
}

// SecretsOf returns what an agent does not see of a person's home folder.
func SecretsOf(home string) []string {
	var paths []string
	for _, name := range secrets {
		paths = append(paths, filepath.Join(home, name))
	}
	return paths
}
