package pi

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
)

// Each flag that is ralph's own, or made of a setting, gives way to one of that name from the user,
// which is then printed alone.
func TestUserFlagsWin(t *testing.T) {
	spec := agent.Spec{Command: []string{"pi"}, Provider: "p", Model: "m", Thinking: "high"}
	command, err := New().Command(spec)
	if err != nil {
		t.Fatal(err)
	}
	flags := 0
	for i, flag := range command.Argv {
		if !strings.HasPrefix(flag, "--") {
			continue
		}
		flags++
		mine := []string{flag}
		switch {
		case flag == "--mode":
			mine = []string{flag, "rpc"} // no other can be driven
		case i+1 < len(command.Argv) && !strings.HasPrefix(command.Argv[i+1], "--"):
			mine = []string{flag, "mine"}
		}
		for _, given := range [][]string{mine, {strings.Join(mine, "=")}} {
			spec.Flags = given
			got, err := New().Command(spec)
			if err != nil {
				t.Errorf("%q: %v", given, err)
				continue
			}
			n := len(got.Argv) - len(given)
			if slices.Contains(got.Argv[:n], flag) {
				t.Errorf("%q and ralph's own: %q", given, got.Argv)
			}
			if !slices.Equal(got.Argv[n:], given) {
				t.Errorf("%q is not at the end of %q", given, got.Argv)
			}
		}
	}
	if flags != 5 {
		t.Errorf("%d flags in %q", flags, command.Argv)
	}
}

func TestCommand(t *testing.T) {
	tests := []struct {
		name string
		spec agent.Spec
		want string
	}{
		{"a folder for its sessions", agent.Spec{Command: []string{"pi"}, SessionDir: "s"}, "pi --mode rpc --session-dir s"},
		{"a copy of an earlier session", agent.Spec{Command: []string{"pi"}, SessionDir: "s", Resume: "id"}, "pi --mode rpc --session-dir s --fork id"},
		{"the user's own session", agent.Spec{Command: []string{"pi"}, SessionDir: "s", Resume: "id", Flags: []string{"--continue"}}, "pi --mode rpc --continue"},
		{
			"extensions and skills", agent.Spec{Command: []string{"pi"}, Extensions: []string{"a.ts", "b.ts"}, Skills: []string{"s"}},
			"pi --mode rpc --no-session --extension a.ts --extension b.ts --skill s",
		},
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
