package config

import "slices"

// KnownAgent is an agent that is known by name. The table of them is the one home of these names.
type KnownAgent struct {
	Program  string // the command that people type
	Protocol string
	// Tried says that ralph was tested with the real program. Else only its documentation is known.
	Tried bool
	// Bridge says that it is a second way to an agent that ralph speaks with itself.
	Bridge bool
	// Keys are the variables by which it pays for each request although it may have the login of a
	// subscription. It takes them without asking, so that they reach it where it has no login, or
	// agent.passKeys says so.
	//
	// Of the others, Gemini CLI (0.61.0) and Qwen Code (0.24.4) look for a key only where no login
	// was chosen in their settings; pi prefers its login; opencode has no login that a key could
	// stand in for; what Amp and Copilot take is a token of the same account.
	Keys []string
	// Own is the place of that login; nil for an agent without Keys.
	Own *Login
	// Login says how a person logs in.
	Login string
	// also are other names of it: those of the packages that it comes in, without their scope.
	also []string
}

// Login is where an agent keeps a login of its own. Only its presence is checked, never its
// content.
type Login struct {
	// Variables are tokens of the same login: one that is set is a login.
	Variables []string
	// Folder is the variable that names the agent's folder; Default is that folder, below the home
	// folder, where it is not set.
	Folder, Default string
	// File is what it keeps the login in, in that folder.
	File string
	// Keychain is the item with it in the user's keychain on macOS. If the variable names the
	// folder, the item's name ends in a dash and the first eight digits of the SHA-256 of that
	// name.
	Keychain string
	// Config is a file in that folder whose key Store says that the login is in the system's
	// keyring, which cannot be read.
	Config, Store string
}

// Logins of Claude Code 2.1 and Codex 0.169.
var (
	claudeOwn = &Login{
		Variables: []string{"CLAUDE_CODE_OAUTH_TOKEN"}, Folder: "CLAUDE_CONFIG_DIR", Default: ".claude",
		File: ".credentials.json", Keychain: "Claude Code-credentials",
	}
	codexOwn = &Login{Folder: "CODEX_HOME", Default: ".codex", File: "auth.json", Config: "config.toml", Store: "cli_auth_credentials_store"}
)

var (
	claudeKeys  = []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"}
	codexKeys   = []string{"OPENAI_API_KEY", "CODEX_API_KEY"}
	claudeLogin = "run 'claude' and give it /login, or set ANTHROPIC_API_KEY"
	codexLogin  = "run 'codex login', or set CODEX_API_KEY"
	piLogin     = "run 'pi' and give it /login, or set the provider's key in the environment"
)

var knownAgents = [...]KnownAgent{
	{Program: "claude", Protocol: ProtocolClaude, Tried: true, Keys: claudeKeys, Own: claudeOwn, Login: claudeLogin, also: []string{"claude-code"}},
	{Program: "pi", Protocol: ProtocolPi, Tried: true, Login: piLogin, also: []string{"pi-coding-agent"}},
	{Program: "codex", Protocol: ProtocolCodex, Tried: true, Keys: codexKeys, Own: codexOwn, Login: codexLogin},
	{Program: "amp", Protocol: ProtocolAmp, Login: "run 'amp login'", also: []string{"ampcode"}},
	{Program: "opencode", Protocol: ProtocolACP, Tried: true, Login: "run 'opencode auth login'", also: []string{"opencode-ai"}},
	{Program: "gemini", Protocol: ProtocolACP, Tried: true, Login: "run 'gemini' and log in there, or set GEMINI_API_KEY", also: []string{"gemini-cli"}},
	{Program: "copilot", Protocol: ProtocolACP, Tried: true, Login: "run 'copilot login'", also: []string{"copilot-cli"}},
	{Program: "qwen", Protocol: ProtocolACP, Tried: true, Login: "run 'qwen' and log in there, or give it --auth-type openai with OPENAI_API_KEY", also: []string{"qwen-code"}},
	{Program: "goose", Protocol: ProtocolACP, Login: "run 'goose configure'"},
	{Program: "cursor-agent", Protocol: ProtocolACP, Login: "run 'cursor-agent login', or set CURSOR_API_KEY"},
	{Program: "kimi", Protocol: ProtocolACP, Login: "run 'kimi' and log in there", also: []string{"kimi-cli"}},
	{Program: "claude-agent-acp", Protocol: ProtocolACP, Bridge: true, Keys: claudeKeys, Own: claudeOwn, Login: claudeLogin, also: []string{"claude-code-acp"}},
	{Program: "codex-acp", Protocol: ProtocolACP, Bridge: true, Keys: codexKeys, Own: codexOwn, Login: codexLogin},
	{Program: "pi-acp", Protocol: ProtocolACP, Bridge: true, Login: piLogin},
}

// KnownAgents returns the agents that are known by name, the bridges last.
func KnownAgents() []KnownAgent { return slices.Clone(knownAgents[:]) }

// Known returns what is known of the agent's own program, by its name; else of the agent whose
// protocol the settings name.
func (a Agent) Known() (KnownAgent, bool) {
	if known, ok := KnownProgram(a.Program()); ok {
		return known, true
	}
	protocol := a.ResolvedProtocol()
	at := slices.IndexFunc(knownAgents[:], func(k KnownAgent) bool { return k.Protocol == protocol })
	if at < 0 || protocol == ProtocolACP { // many agents speak it
		return KnownAgent{}, false
	}
	return knownAgents[at], true
}

// KnownProgram returns what is known of a program by its name, as [Agent.Program] returns it.
func KnownProgram(name string) (KnownAgent, bool) {
	at := slices.IndexFunc(knownAgents[:], func(k KnownAgent) bool {
		return k.Program == name || slices.Contains(k.also, name)
	})
	if at < 0 {
		return KnownAgent{}, false
	}
	return knownAgents[at], true
}
