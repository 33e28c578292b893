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
	// also are other names of it: those of the packages that it comes in, without their scope.
	also []string
}

var (
	claudeKeys = []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"}
	codexKeys  = []string{"OPENAI_API_KEY", "CODEX_API_KEY"}
)

var knownAgents = [...]KnownAgent{
	{Program: "claude", Protocol: ProtocolClaude, Tried: true, Keys: claudeKeys, also: []string{"claude-code"}},
	{Program: "pi", Protocol: ProtocolPi, Tried: true, also: []string{"pi-coding-agent"}},
	{Program: "codex", Protocol: ProtocolCodex, Tried: true, Keys: codexKeys},
	{Program: "amp", Protocol: ProtocolAmp, also: []string{"ampcode"}},
	{Program: "opencode", Protocol: ProtocolACP, Tried: true, also: []string{"opencode-ai"}},
	{Program: "gemini", Protocol: ProtocolACP, Tried: true, also: []string{"gemini-cli"}},
	{Program: "copilot", Protocol: ProtocolACP, Tried: true, also: []string{"copilot-cli"}},
	{Program: "qwen", Protocol: ProtocolACP, Tried: true, also: []string{"qwen-code"}},
	{Program: "goose", Protocol: ProtocolACP},
	{Program: "cursor-agent", Protocol: ProtocolACP},
	{Program: "kimi", Protocol: ProtocolACP, also: []string{"kimi-cli"}},
	{Program: "claude-agent-acp", Protocol: ProtocolACP, Bridge: true, Keys: claudeKeys, also: []string{"claude-code-acp"}},
	{Program: "codex-acp", Protocol: ProtocolACP, Bridge: true, Keys: codexKeys},
	{Program: "pi-acp", Protocol: ProtocolACP, Bridge: true},
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
