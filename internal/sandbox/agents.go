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

// shown are the files and folders of a person's home folder that an agent may read: programs,
// libraries and who commits. Everything else there is hidden, since any of it may hold a login.
var shown = []string{
	".gitconfig", ".config/git", ".gitignore", ".gitignore_global", ".gitattributes", ".editorconfig", ".tool-versions", ".config/mise",
	"bin", ".local/bin", ".local/lib", ".local/opt", ".local/pipx", ".local/share/pipx", ".local/share/uv", ".local/share/mise", ".local/share/pnpm", ".local/share/fnm", ".local/share/claude",
	"go", "sdk", ".cargo/bin", ".cargo/env", ".cargo/registry", ".cargo/git", ".rustup", ".nvm", ".volta", ".fnm", ".asdf", ".mise", ".bun", ".deno", ".pyenv", ".rbenv", ".rvm", ".nodenv",
	".goenv", ".jenv", ".sdkman", ".ghcup", ".cabal/bin", ".cabal/packages", ".stack", ".juliaup", ".julia", ".dotnet", ".pub-cache/bin", ".pub-cache/hosted", ".npm-global", ".npm-packages", ".yarn/bin",
	".nix-profile", ".local/state/nix", ".linuxbrew", ".m2/repository", ".m2/wrapper", ".gradle/caches", ".gradle/wrapper", "Library",
}

// secrets are the files and folders that hold logins or keys, from the home folder. They are hidden
// too where a person works in the home folder itself, or shows all of it.
var secrets = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".pypirc", ".git-credentials", ".pgpass", ".password-store", ".vault-token", ".terraform.d",
	".npmrc", ".yarnrc.yml", ".cargo/credentials", ".cargo/credentials.toml", ".m2/settings.xml", ".m2/settings-security.xml", ".gradle/gradle.properties", ".gem/credentials",
	".composer/auth.json", ".config/composer/auth.json", ".huggingface", ".cache/huggingface/token", ".stack/credentials",
	".config/gcloud", ".config/gh", ".config/glab-cli", ".config/op", ".config/rclone", ".config/hub", ".config/git/credentials", ".local/share/keyrings",
	".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware",
	"Library/Keychains", "Library/Application Support", "Library/Cookies", "Library/Mail", "Library/Messages", "Library/Safari",
	".bash_history", ".zsh_history", ".python_history", ".psql_history", ".mysql_history", ".lesshst",
}

// HideHome hides a person's home folder but for what is listed. Parts of it that the policy allows
// stay as they are.
func (p *Policy) HideHome(home string) {
	if home == "" || home == "/" {
		return
	}
	p.Hide = append(p.Hide, home)
	for _, name := range shown {
		p.Show = append(p.Show, filepath.Join(home, name))
	}
	for _, name := range secrets {
		p.Hide = append(p.Hide, filepath.Join(home, name))
	}
	if p.Git.Common != "" { // a work tree needs all of its repository
		p.Show = append(p.Show, p.Git.Common)
	}
}
