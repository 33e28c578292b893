package config

import (
	"cmp"
	"slices"
)

// KnownAgent is an agent that is known by name. Only their table contains these names.
type KnownAgent struct {
	Program  string // the command that people type
	Protocol string
	// Tried says that ralph was tested with the real program, not only written by its
	// documentation.
	Tried bool
	// Bridge says that it connects to an agent that ralph also speaks with directly.
	Bridge bool
	// Keys are the variables of API keys with which the agent pays for each request, even if it has
	// the login of a subscription. It uses them without asking. So they are passed only if it has
	// no login, or if agent.passKeys says so.
	//
	// Other agents have none: Gemini CLI (0.61.0) and Qwen Code (0.24.4) look for a key only if no
	// login was chosen in their settings; pi prefers its login; opencode has no login that a key
	// could replace; Amp and Copilot take a token of the same account.
	Keys []string
	// Own is the place of that login; nil for an agent without Keys.
	Own *Login
	// Login says how a person logs in.
	Login string
	// Probe are the arguments by which the program prints Missing if it has neither a login nor a
	// key; nil for an agent whose files say so: Own.
	Probe   []string
	Missing string
	// Conversation are the arguments that begin a conversation with a person in a terminal, with
	// PromptWord in the place of the first prompt. It is nil if there is no such conversation, or
	// if it cannot be given a prompt. The source is the documentation of each agent. Some versions
	// of opencode only show the prompt, until enter is typed.
	Conversation []string
	// also are its other names: those of its packages, without their scope.
	also []string
}

// PromptWord is in the place of the prompt in [KnownAgent.Conversation].
const PromptWord = "{prompt}"

// Converse returns the arguments that begin a conversation with this prompt; false if the agent
// cannot be given one.
func (k KnownAgent) Converse(prompt string) ([]string, bool) {
	words := slices.Clone(k.Conversation)
	at := slices.Index(words, PromptWord)
	if at < 0 {
		return nil, false
	}
	words[at] = prompt
	return words, true
}

// Login is where an agent keeps a login of its own. Only its presence is checked, never its
// content.
type Login struct {
	// Variables are tokens of the same login: one that is set is a login.
	Variables []string
	// Folder is the variable that names the agent's folder. Default is the folder if it is not set,
	// relative to the home folder.
	Folder, Default string
	// File is the file with the login in that folder.
	File string
	// Keychain is the name of the login in the user's keychain on macOS. If the variable Folder is
	// set, a dash and the first eight digits of the SHA-256 of its value follow.
	Keychain string
	// Config is a file in that folder. Its key Store says that the login is in the system's
	// keyring, which cannot be read.
	Config, Store string
	// Settings is a file in that folder, and Others are words in it, or variables, by which the
	// agent pays in another way: another provider, or a program that prints a key.
	Settings string
	Others   []string
}

// Logins of Claude Code 2.1 and Codex 0.169.
var (
	claudeOwn = &Login{
		Variables: []string{"CLAUDE_CODE_OAUTH_TOKEN"}, Folder: "CLAUDE_CONFIG_DIR", Default: ".claude",
		File: ".credentials.json", Keychain: "Claude Code-credentials",
		Settings: "settings.json", Others: []string{"apiKeyHelper", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX",
			"CLAUDE_CODE_USE_FOUNDRY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"},
	}
	codexOwn = &Login{
		Folder: "CODEX_HOME", Default: ".codex", File: "auth.json", Config: "config.toml", Store: "cli_auth_credentials_store",
		Settings: "config.toml", Others: []string{"model_provider", "CODEX_ACCESS_TOKEN"},
	}
)

var (
	claudeKeys  = []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"}
	codexKeys   = []string{"OPENAI_API_KEY", "CODEX_API_KEY"}
	claudeLogin = "run 'claude' and give it /login, or set ANTHROPIC_API_KEY"
	codexLogin  = "run 'codex login', or set CODEX_API_KEY"
	piLogin     = "run 'pi' and give it /login, or set the provider's key in the environment"
)

var promptAlone = []string{PromptWord}

var knownAgents = [...]KnownAgent{
	{Program: "claude", Protocol: ProtocolClaude, Conversation: promptAlone, Tried: true, Keys: claudeKeys,
		Own: claudeOwn, Login: claudeLogin, also: []string{"claude-code"}},
	{Program: "pi", Protocol: ProtocolPi, Conversation: promptAlone, Tried: true, Login: piLogin,
		Probe: []string{"--list-models"}, Missing: "No models available", also: []string{"pi-coding-agent"}},
	{Program: "codex", Protocol: ProtocolCodex, Conversation: promptAlone, Tried: true, Keys: codexKeys, Own: codexOwn, Login: codexLogin},
	{Program: "amp", Protocol: ProtocolAmp, Login: "run 'amp login'", also: []string{"ampcode"}},
	{Program: "opencode", Protocol: ProtocolACP, Conversation: []string{"--prompt", PromptWord}, Tried: true,
		Login: "run 'opencode auth login'", also: []string{"opencode-ai"}},
	{Program: "gemini", Protocol: ProtocolACP, Conversation: []string{"-i", PromptWord}, Tried: true,
		Login: "run 'gemini' and log in there, or set GEMINI_API_KEY", also: []string{"gemini-cli"}},
	{Program: "copilot", Protocol: ProtocolACP, Conversation: []string{"-i", PromptWord}, Tried: true,
		Login: "run 'copilot login'", also: []string{"copilot-cli"}},
	{Program: "qwen", Protocol: ProtocolACP, Conversation: []string{"-i", PromptWord}, Tried: true,
		Login: "run 'qwen' and log in there, or give it --auth-type openai with OPENAI_API_KEY", also: []string{"qwen-code"}},
	{Program: "goose", Protocol: ProtocolACP, Conversation: []string{"run", "-s", "-t", PromptWord}, Login: "run 'goose configure'"},
	{Program: "cursor-agent", Protocol: ProtocolACP, Conversation: promptAlone, Login: "run 'cursor-agent login', or set CURSOR_API_KEY"},
	{Program: "kimi", Protocol: ProtocolACP, Login: "run 'kimi' and log in there", also: []string{"kimi-cli"}},
	{Program: "claude-agent-acp", Protocol: ProtocolACP, Bridge: true, Keys: claudeKeys, Own: claudeOwn, Login: claudeLogin, also: []string{"claude-code-acp"}},
	{Program: "codex-acp", Protocol: ProtocolACP, Bridge: true, Keys: codexKeys, Own: codexOwn, Login: codexLogin},
	{Program: "pi-acp", Protocol: ProtocolACP, Bridge: true, Login: piLogin},
}

// KnownAgents returns the agents that are known by name, the bridges last.
func KnownAgents() []KnownAgent { return slices.Clone(knownAgents[:]) }

// Known returns the known agent with the name of the settings' program, else the one with the
// protocol of the settings.
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

// sameProgram reports whether two settings name the same program, each in its own way: by its path,
// its package, or with other arguments.
func (a Agent) sameProgram(b Agent) bool {
	name := func(a Agent) string {
		known, _ := KnownProgram(a.Program())
		return cmp.Or(known.Program, a.Program())
	}
	return name(a) == name(b)
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
