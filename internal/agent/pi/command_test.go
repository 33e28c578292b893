package pi

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
)

func TestCommand(t *testing.T) {
	tests := []struct {
		name string
		spec agent.Spec
		want string
	}{
		{"nothing but the program", agent.Spec{Command: []string{"pi"}}, "pi --mode rpc --no-session"},
		{
			"all settings", agent.Spec{Command: []string{"npx", "pi"}, Provider: "fake", Model: "text", Thinking: "high", Flags: []string{"--no-extensions"}},
			"npx pi --mode rpc --no-session --provider fake --model text --thinking high --no-extensions",
		},
		{
			"flags of the user replace settings", agent.Spec{Command: []string{"pi", "--thinking=low"}, Model: "text", Thinking: "high", Flags: []string{"--model", "other", "--mode", "rpc"}},
			"pi --thinking=low --no-session --model other --mode rpc",
		},
		{"a session of the user's", agent.Spec{Command: []string{"pi"}, Flags: []string{"--session-dir", "x"}}, "pi --mode rpc --session-dir x"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cmd, err := New().Command(test.spec)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(cmd.Argv, " "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if cmd.Env != nil || cmd.Drop != nil || cmd.Text || cmd.CloseStdin || cmd.ParentDeath {
				t.Errorf("%+v", cmd)
			}
		})
	}
	for _, spec := range []agent.Spec{{}, {Command: []string{"pi"}, Flags: []string{"--mode=json"}}} {
		if cmd, err := New().Command(spec); err == nil {
			t.Errorf("%+v became %q", spec, cmd.Argv)
		}
	}
}
