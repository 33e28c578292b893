package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"
)

// A State is a folder in which a person's agent keeps its own files. In a sandbox the agent has a
// copy of it, made for the loop, to which a variable of its own leads; it changes nothing of the
// person's, where settings, hooks and plugins would run in the next session outside.
//
// All names are below the folder. What is in none of the lists, such as sessions of other projects,
// the agent does not see.
type State struct {
	// Variable leads the agent to the folder, which is From.
	Variable, From string
	// Name is that of the copy, in the folder for temporary files.
	Name string
	// Default says that the variable need not be set.
	Default bool
	// Own are files of which the agent gets a copy. Of those in Logins, a new login comes back.
	Own    []string
	Logins []string
	// Beside are of Own, and in the home folder unless the variable is set.
	Beside []string
	Home   string
	// Read are links in the copy to the person's settings, hooks and plugins.
	Read []string
	// Others says that other programs follow the variable, too. What they read has links as well.
	Others bool
	// Sessions are the names of the files of one session, with its id in the place of %s.
	Sessions string
	// Wanted are sessions of the person's that a loop continues.
	Wanted []string
}

// agentStates are those of the agents that ralph knows, by the program. The places were observed
// with Claude Code 2.1.329, Codex 0.169.0 and pi 0.87.1; the others are those of their
// documentation. Default is the folder from home to which the variable leads if it is not set.
var agentStates = map[string][]struct {
	Default string
	State
}{
	"claude": {{".claude", State{
		Variable: "CLAUDE_CONFIG_DIR", Own: []string{".credentials.json", ".claude.json"},
		Logins: []string{".credentials.json"}, Beside: []string{".claude.json"},
		Read: []string{"settings.json", "settings.local.json", "CLAUDE.md", "rules", "agents", "commands", "skills",
			"hooks", "scripts", "bin", "plugins", "output-styles", "keybindings.json"},
		Sessions: "projects/*/%s.jsonl",
	}}},
	"codex": {{".codex", State{
		Variable: "CODEX_HOME", Own: []string{"auth.json", "installation_id"}, Logins: []string{"auth.json"},
		Read: []string{"config.toml", "managed_config.toml", "requirements.toml", ".env", "hooks.json", "hooks",
			"plugins", "prompts", "skills", "rules", "agents", "AGENTS.md", "AGENTS.override.md"},
	}}},
	"pi": {{".pi/agent", State{
		Variable: "PI_CODING_AGENT_DIR", Own: []string{"auth.json"}, Logins: []string{"auth.json"},
		Read: []string{
			"settings.json", "models.json", "mcp.json", "ralph.json", "trust.json", "keybindings.json", "extensions",
			"skills", "prompts", "themes", "tools", "bin", "npm", "git",
			"AGENTS.md", "CLAUDE.md", "SYSTEM.md", "APPEND_SYSTEM.md",
		},
		Sessions: "sessions/*/*_%s.jsonl",
	}}},
	"gemini": {{"", State{
		Variable: "GEMINI_CLI_HOME", Own: under(".gemini", "oauth_creds.json", "google_accounts.json",
			"gemini-credentials.json", "installation_id"), Logins: under(".gemini", "oauth_creds.json"),
		Read: under(".gemini", "settings.json", "trustedFolders.json", "keybindings.json", ".env", "GEMINI.md",
			"extensions", "commands", "skills", "agents", "policies", "hooks"),
	}}},
	"qwen": {{".qwen", State{
		Variable: "QWEN_HOME", Own: []string{"oauth_creds.json", "installation_id"}, Logins: []string{"oauth_creds.json"},
		Read: []string{"settings.json", "trustedFolders.json", "keybindings.json", ".env", "QWEN.md", "extensions", "commands", "skills", "agents", "hooks"},
	}}},
	"copilot": {{".copilot", State{
		Variable: "COPILOT_HOME", Own: []string{"config.json"},
		Read: []string{"settings.json", "mcp-config.json", "lsp-config.json", "permissions-config.json",
			"copilot-instructions.md", "instructions", "agents", "hooks", "skills", "installed-plugins", "pkg"},
	}}},
	"opencode": {
		{".local/share", State{Variable: "XDG_DATA_HOME", Others: true,
			Own: under("opencode", "auth.json", "mcp-auth.json"), Logins: under("opencode", "auth.json")}},
		{".local/state", State{Variable: "XDG_STATE_HOME", Others: true}},
		{".config", State{Variable: "XDG_CONFIG_HOME", Others: true, Read: under("opencode",
			"opencode.json", "opencode.jsonc", "config.json", "tui.json", "AGENTS.md", "package.json", "bun.lock", "node_modules",
			"agent", "agents", "command", "commands", "plugin", "plugins", "skill", "skills", "mode", "modes", "tool", "tools", "themes")}},
	},
	"amp": {{"", State{ // it looks into the home folder alone
		Variable: "HOME", Others: true, Own: under(".local/share/amp", "secrets.json"),
		Read: under(".config/amp", "settings.json", "settings.jsonc", "AGENTS.md", "AGENT.md", "plugins", "skills", "commands", "tools"),
	}}},
}

func under(dir string, names ...string) []string {
	for i, name := range names {
		names[i] = dir + "/" + name
	}
	return names
}

// StatesOf returns the states of an agent that runs with that environment. The program is one that
// the settings know; sessions are those of the person's that it continues.
func StatesOf(program, home string, env []string, sessions ...string) (states []State) {
	program = strings.TrimSuffix(filepath.Base(program), ".exe")
	program = strings.TrimSuffix(strings.TrimSuffix(program, "-acp"), "-agent") // its bridge to the protocol
	for _, known := range agentStates[program] {
		s := known.State
		s.Home, s.Wanted = home, sessions
		s.From = filepath.Join(home, known.Default)
		s.Name = filepath.Join("state", program, cleanName(known.Default))
		s.Default = true
		if moved := variable(env, s.Variable); filepath.IsAbs(moved) {
			s.Beside = nil
			if moved = filepath.Clean(moved); moved != s.From {
				digest := sha256.Sum256([]byte(moved))
				s.From, s.Default = moved, false
				s.Name += "-" + hex.EncodeToString(digest[:4])
			}
		}
		if s.Others {
			s.Read = slices.Clip(s.Read)
			for _, name := range shown {
				if name = filepath.Join(home, name); within(s.From, name) {
					s.Read = append(s.Read, strings.TrimPrefix(name, s.From+"/"))
				}
			}
		}
		states = append(states, s)
	}
	return states
}

// cleanName is a folder from home as one name.
func cleanName(folder string) string {
	if folder == "" {
		return "home"
	}
	return strings.ReplaceAll(strings.Trim(folder, "."), "/", "-")
}

func variable(env []string, name string) (value string) {
	for _, entry := range env {
		if text, ok := strings.CutPrefix(entry, name+"="); ok && name != "" {
			value = text
		}
	}
	return value
}

// source is where the person has a file of the state.
func (s State) source(name string) string {
	if slices.Contains(s.Beside, name) {
		return filepath.Join(s.Home, name)
	}
	return filepath.Join(s.From, name)
}

// leads returns the variables that lead an agent of that environment to its copies.
func (b *Box) leads(env []string) (lead []string) {
	for _, s := range b.States {
		if at := variable(env, s.Variable); at == "" && s.Default || filepath.Clean(at) == s.From {
			lead = append(lead, s.Variable+"="+filepath.Join(b.Temp, s.Name))
		}
	}
	return lead
}
