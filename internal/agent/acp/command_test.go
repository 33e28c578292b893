package acp

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/config"
)

func TestCommand(t *testing.T) {
	tests := []struct {
		name, program string
		spec          agent.Spec
		want          string // argv, or the error after "error: "
	}{
		{"the word that makes it speak ACP", "opencode", agent.Spec{Command: []string{"opencode"}}, "opencode acp --print-logs --log-level=ERROR"},
		{"is not said twice", "opencode", agent.Spec{Command: []string{"npx", "opencode-ai", "acp"}, Flags: []string{"--print-logs"}}, "npx opencode-ai acp --log-level=ERROR --print-logs"},
		{"nor is a log asked for twice", "opencode", agent.Spec{Command: []string{"opencode"}, Flags: []string{"--print-logs", "--log-level", "DEBUG"}}, "opencode acp --print-logs --log-level DEBUG"},
		{"nor in its older spelling", "gemini", agent.Spec{Command: []string{"gemini"}, Flags: []string{"--experimental-acp"}}, "gemini --experimental-acp"},
		{"a model is a flag where there is one", "gemini", agent.Spec{Command: []string{"gemini"}, Model: "m"}, "gemini --acp --model m"},
		{"the user's flag wins", "gemini", agent.Spec{Command: []string{"gemini"}, Model: "m", Flags: []string{"-m", "n"}}, "gemini --acp -m n"},
		{"else it is chosen in the session", "opencode", agent.Spec{Command: []string{"opencode"}, Provider: "p", Model: "m"}, "opencode acp --print-logs --log-level=ERROR"},
		{"Qwen Code asks no person", "qwen", agent.Spec{Command: []string{"qwen"}}, "qwen --acp --yolo"},
		{"unless the user has it ask", "qwen", agent.Spec{Command: []string{"qwen"}, Flags: []string{"--approval-mode=default"}}, "qwen --acp --approval-mode=default"},
		{"nothing is added to what is not known", "my-acp", agent.Spec{Command: []string{"my-acp", "--stdio"}}, "my-acp --stdio"},
		{"a provider that has no place is an error", "gemini", agent.Spec{Command: []string{"gemini"}, Provider: "p"}, "error: acp: gemini takes no provider: choose it in its own settings"},
		{"no command is an error", "gemini", agent.Spec{}, "error: acp: its command is empty"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			command, err := New(test.program).Command(test.spec)
			got := strings.Join(command.Argv, " ")
			if err != nil {
				got = "error: " + err.Error()
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestProfiles(t *testing.T) {
	var names []string
	for _, p := range profiles {
		if p.name == "ralph" {
			continue // it has no login of its own
		}
		if len(p.names) == 0 {
			t.Errorf("%s: no name finds it", p.name)
		}
		for _, name := range p.names {
			if slices.Contains(names, name) {
				t.Errorf("%s is two agents", name)
			}
			names = append(names, name)
			if known, ok := (config.Agent{Command: name, Protocol: config.ProtocolACP}).Known(); !ok || known.Login == "" {
				t.Errorf("%s: a person does not learn how to log in", name)
			}
			if New(name).profile.name != p.name {
				t.Errorf("%s is not found", name)
			}
		}
	}
}
