package config

import "slices"

// KnownAgent is an agent that is known by name. The table of them is the one home of these names.
type KnownAgent struct {
	Program  string // the command that people type
	Protocol string
	// Tried says that the real program was driven. Else all that is known of it is its documentation.
	Tried bool
	// Bridge says that it is a second way to an agent that ralph speaks with itself.
	Bridge bool
	// Keys are the variables by which it pays for each request although it may have the login of a subscription. It takes
	// them without asking, so that they reach it only with agent.passKeys.
	//
	// Of the others, Gemini CLI (0.61.0) and Qwen Code (0.24.4) look for a key only where no login was chosen in their settings; pi
	// prefers its login; opencode has no login that a key could stand in for; what Amp and Copilot take is a token of the same account.
	Keys []string
	// Login is what a person does about a missing login.
	Login string
	// also are other names of it: those of the packages that it comes in, without their scope.
	also []string
}

var (
	claudeKeys  = []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"}
	codexKeys   = []string{"OPENAI_API_KEY", "CODEX_API_KEY"}
	claudeLogin = "run 'claude' and give it /login, or let its key through with agent.passKeys"
	codexLogin  = "run 'codex login', or let its key through with agent.passKeys"
	piLogin     = "run 'pi' and give it /login, or set the provider's key in the environment"
)

var knownAgents = [...]KnownAgent{
	{Program: "claude", Protocol: ProtocolClaude, Tried: true, Keys: claudeKeys, Login: claudeLogin, also: []string{"claude-code"}},
	{Program: "pi", Protocol: ProtocolPi, Tried: true, Login: piLogin, also: []string{"pi-coding-agent"}},
	{Program: "codex", Protocol: ProtocolCodex, Tried: true, Keys: codexKeys, Login: codexLogin},
	{Program: "amp", Protocol: ProtocolAmp, Login: "run 'amp login'", also: []string{"ampcode"}},
	{Program: "opencode", Protocol: ProtocolACP, Tried: true, Login: "run 'opencode auth login'", also: []string{"opencode-ai"}},
	{Program: "gemini", Protocol: ProtocolACP, Tried: true, Login: "run 'gemini' and log in there, or set GEMINI_API_KEY", also: []string{"gemini-cli"}},
	{Program: "copilot", Protocol: ProtocolACP, Tried: true, Login: "run 'copilot login'", also: []string{"copilot-cli"}},
	{Program: "qwen", Protocol: ProtocolACP, Tried: true, Login: "run 'qwen' and log in there, or give it --auth-type openai with OPENAI_API_KEY", also: []string{"qwen-code"}},
	{Program: "goose", Protocol: ProtocolACP, Login: "run 'goose configure'"},
	{Program: "cursor-agent", Protocol: ProtocolACP, Login: "run 'cursor-agent login', or set CURSOR_API_KEY"},
	{Program: "kimi", Protocol: ProtocolACP, Login: "run 'kimi' and log in there", also: []string{"kimi-cli"}},
	{Program: "claude-agent-acp", Protocol: ProtocolACP, Bridge: true, Keys: claudeKeys, Login: claudeLogin, also: []string{"claude-code-acp"}},
	{Program: "codex-acp", Protocol: ProtocolACP, Bridge: true, Keys: codexKeys, Login: codexLogin},
	{Program: "pi-acp", Protocol: ProtocolACP, Bridge: true, Login: piLogin},
}

// KnownAgents returns the agents that are known by name, the bridges last.
func KnownAgents() []KnownAgent { return slices.Clone(knownAgents[:]) }

// Known returns what is known of the agent's own program, by its name; else, where somebody said what it speaks, of the
// agent that this is the protocol of.
func (a Agent) Known() (KnownAgent, bool) {
	if known, ok := knownAgent(a.Program()); ok {
		return known, true
	}
	protocol := a.ResolvedProtocol()
	at := slices.IndexFunc(knownAgents[:], func(k KnownAgent) bool { return k.Protocol == protocol })
	if at < 0 || protocol == ProtocolACP { // which is nobody's
		return KnownAgent{}, false
	}
	return knownAgents[at], true
}

func knownAgent(name string) (KnownAgent, bool) {
	at := slices.IndexFunc(knownAgents[:], func(k KnownAgent) bool {
		return k.Program == name || slices.Contains(k.also, name)
	})
	if at < 0 {
		return KnownAgent{}, false
	}
	return knownAgents[at], true
}
