package config

import (
	"strings"
	"testing"
)

func TestLoginHints(t *testing.T) {
	for name, row := range map[string]struct {
		protocol string
		command  []string
		want     string
	}{
		"by the program":   {ProtocolACP, []string{"/opt/bin/opencode acp", "--print-logs"}, "run 'opencode auth login'"},
		"after a launcher": {ProtocolACP, []string{"npx -y @github/copilot@latest"}, "run 'copilot login'"},
		"by the program, not by the protocol it has": {ProtocolClaude, []string{"qwen"}, "run 'qwen' and log in there, or give it --auth-type openai with OPENAI_API_KEY"},
		"a bridge leads to its agent":                {ProtocolACP, []string{"codex-acp"}, "run 'codex login', or set CODEX_API_KEY"},
		"a wrapper is known by its protocol":         {ProtocolAmp, []string{"./night-shift"}, "run 'amp login'"},
		"a loop of before there was a command":       {ProtocolCodex, nil, "run 'codex login', or set CODEX_API_KEY"},
		"a command that cannot be read":              {ProtocolPi, []string{"'open"}, "run 'pi' and give it /login, or set the provider's key in the environment"},
		"an unknown agent":                           {ProtocolACP, []string{"some-acp"}, ""},
		"a program that reads a prompt is no agent":  {ProtocolText, []string{"cat"}, ""},
	} {
		a := Agent{Protocol: row.protocol}
		if len(row.command) > 0 {
			a.Command, a.Flags = row.command[0], row.command[1:]
		}
		if known, _ := a.Known(); known.Login != row.want {
			t.Errorf("%s: %q, want %q", name, known.Login, row.want)
		}
	}
}

func TestConversations(t *testing.T) {
	for command, want := range map[string]string{
		"claude":                           "claude|hi",
		"claude -p --model opus":           "claude|hi",
		"npx -y @openai/codex@latest exec": "npx|-y|@openai/codex@latest|hi",
		"env A=1 gemini --acp":             "env|A=1|gemini|-i|hi",
		"goose acp":                        "goose|run|-s|-t|hi",
		"/opt/opencode":                    "/opt/opencode|--prompt|hi",
		"claude-agent-acp":                 "claude-agent-acp|-",
		"amp":                              "amp|-",
	} {
		agent := Agent{Command: command}
		argv, err := agent.Start()
		if err != nil {
			t.Fatal(err)
		}
		known, _ := KnownProgram(agent.Program())
		words, ok := known.Converse("hi")
		if !ok {
			words = []string{"-"}
		}
		if got := strings.Join(append(argv, words...), "|"); got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
	if claude, _ := KnownProgram("claude"); claude.Conversation[0] != PromptWord {
		t.Errorf("the table has changed: %q", claude.Conversation)
	}
}
