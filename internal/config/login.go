package config

import "slices"

// logins say how a person logs in with an agent, by the names of its program and of what speaks for it. It is told when a loop
// has ended because the agent is not logged in.
var logins = [...]struct {
	names []string
	how   string
}{
	{[]string{"claude", "claude-code", "claude-agent-acp", "claude-code-acp"}, "run 'claude' and give it /login, or let its key through with agent.passKeys"},
	{[]string{"codex", "codex-acp"}, "run 'codex login', or let its key through with agent.passKeys"},
	{[]string{"pi", "pi-coding-agent", "pi-acp"}, "run 'pi' and give it /login, or set the provider's key in the environment"},
	{[]string{"amp", "ampcode"}, "run 'amp login'"},
	{[]string{"opencode", "opencode-ai"}, "run 'opencode auth login'"},
	{[]string{"gemini", "gemini-cli"}, "run 'gemini' and log in there, or set GEMINI_API_KEY"},
	{[]string{"copilot", "copilot-cli"}, "run 'copilot login'"},
	{[]string{"qwen", "qwen-code"}, "run 'qwen' and log in there, or give it --auth-type openai with OPENAI_API_KEY"},
	{[]string{"goose"}, "run 'goose configure'"},
	{[]string{"cursor-agent", "cursor"}, "run 'cursor-agent login', or set CURSOR_API_KEY"},
	{[]string{"kimi", "kimi-cli"}, "run 'kimi' and log in there"},
}

// Login says how a person logs in with the agent that a command starts, which is as event.Agent has it: a command line and flags.
// Where it is not known by its program, it is the one that the protocol is named after; empty where neither is known.
func Login(protocol string, command []string) string {
	names := []string{protocol}
	if len(command) > 0 {
		if words, err := commandWords(command[0]); err == nil {
			program, _ := target(append(words, command[1:]...))
			names = []string{agentName(program), protocol}
		}
	}
	for _, name := range names {
		for _, l := range logins {
			if slices.Contains(l.names, name) {
				return l.how
			}
		}
	}
	return ""
}
