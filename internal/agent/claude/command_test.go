package claude

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
)

// Each flag that is ralph's own, or made of a setting, gives way to one of that name from the user,
// which is then printed alone.
func TestUserFlagsWin(t *testing.T) {
	for _, root := range []bool{false, true} {
		spec := agent.Spec{Command: []string{"claude"}, Model: "m", Thinking: "high", Root: root}
		command, err := New(nil).Command(spec)
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
			if i+1 < len(command.Argv) && !strings.HasPrefix(command.Argv[i+1], "--") {
				mine = []string{flag, "mine"}
			}
			if strings.HasSuffix(flag, "-format") {
				mine[1] = "stream-json" // no other can be driven
			}
			for _, given := range [][]string{mine, {strings.Join(mine, "=")}} {
				spec.Flags = given
				got, err := New(nil).Command(spec)
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
		if want := map[bool]int{false: 9, true: 12}[root]; flags != want {
			t.Errorf("%d flags in %q", flags, command.Argv)
		}
	}
}

func TestCommand(t *testing.T) {
	const driven = "--print --input-format stream-json --output-format stream-json --verbose --replay-user-messages --include-partial-messages "
	tests := []struct {
		name string
		spec agent.Spec
		want string // argv, or the error after "error: "
		env  string // beyond what is always there
	}{
		{"no person is asked", agent.Spec{Command: []string{"claude"}},
			"claude " + driven + "--dangerously-skip-permissions", ""},
		{"root may not skip permissions, so what is usual is allowed and the rest is answered",
			agent.Spec{Command: []string{"claude"}, Root: true},
			"claude " + driven + "--permission-mode acceptEdits --allowedTools " + rootTools +
				" --disallowedTools AskUserQuestion,EnterPlanMode,ExitPlanMode --permission-prompt-tool stdio", ""},
		{"the folder is what it may change, and what it asks about is answered", agent.Spec{Command: []string{"claude"}, Permissions: agent.PermitWorkspace},
			"claude " + driven + "--permission-mode acceptEdits --disallowedTools " + unanswered + " --permission-prompt-tool stdio", ""},
		{"root may do no more", agent.Spec{Command: []string{"claude"}, Permissions: agent.PermitAsk, Root: true},
			"claude " + driven + "--permission-mode default --disallowedTools " + unanswered + " --permission-prompt-tool stdio", ""},
		{"a person's flags win over permissions", agent.Spec{Command: []string{"claude"}, Permissions: agent.PermitAsk, Flags: []string{"--permission-mode", "plan"}},
			"claude " + driven + "--permission-mode plan", ""},
		{"a person's permission mode wins", agent.Spec{Command: []string{"claude"}, Flags: []string{"--permission-mode", "plan"}, Root: true},
			"claude " + driven + "--permission-mode plan", ""},
		{"so does a list of allowed tools, in either spelling", agent.Spec{Command: []string{"claude"}, Flags: []string{"--allowed-tools", "Edit"}},
			"claude " + driven + "--allowed-tools Edit", ""},
		{"root in a sandbox says so himself", agent.Spec{Command: []string{"claude"}, Flags: []string{"--dangerously-skip-permissions"}, Root: true},
			"claude " + driven + "--dangerously-skip-permissions", ""},
		{"settings become flags", agent.Spec{Command: []string{"claude"}, Model: "opus", Thinking: "high", Provider: "bedrock"},
			"claude " + driven + "--dangerously-skip-permissions --model opus --effort high", "CLAUDE_CODE_USE_BEDROCK=1"},
		{"flags win over settings, joined or not", agent.Spec{Command: []string{"claude"}, Model: "opus", Thinking: "high", Flags: []string{"--model=haiku", "--effort", "low"}},
			"claude " + driven + "--dangerously-skip-permissions --model=haiku --effort low", ""},
		{"an earlier session is continued in a copy", agent.Spec{Command: []string{"claude"}, Session: "new", Resume: "old"},
			"claude " + driven + "--resume old --fork-session --dangerously-skip-permissions", ""},
		{"unless the user says with which", agent.Spec{Command: []string{"claude"}, Resume: "old", Flags: []string{"--continue"}},
			"claude " + driven + "--dangerously-skip-permissions --continue", ""},
		{"what is said already is not said again", agent.Spec{Command: []string{"claude"}, Flags: []string{"-p", "--verbose", "--output-format", "stream-json"}},
			"claude --input-format stream-json --replay-user-messages --include-partial-messages --dangerously-skip-permissions -p --verbose --output-format stream-json", ""},
		{"a wrapper's short flags are its own", agent.Spec{Command: []string{"docker", "run", "-p", "80:80", "claude", "--model", "x"}, Model: "opus"},
			"docker run -p 80:80 claude --model x " + driven + "--dangerously-skip-permissions", ""},
		{"no thinking is a variable", agent.Spec{Command: []string{"claude"}, Thinking: "off"},
			"claude " + driven + "--dangerously-skip-permissions", "MAX_THINKING_TOKENS=0"},
		{"text cannot be driven", agent.Spec{Command: []string{"claude"}, Flags: []string{"--output-format=text"}},
			"error: claude: --output-format text cannot be driven: leave it out", ""},
		{"an unknown provider is an error", agent.Spec{Command: []string{"claude"}, Provider: "openai"},
			`error: claude: its provider "openai" is none of anthropic, bedrock, vertex, foundry`, ""},
		{"no command is an error", agent.Spec{}, "error: claude: its command is empty", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			command, err := New(nil).Command(test.spec)
			if err != nil {
				if got := "error: " + err.Error(); got != test.want {
					t.Errorf("got  %s\nwant %s", got, test.want)
				}
				return
			}
			if got := strings.Join(command.Argv, " "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			env := append(slices.Clone(environment), strings.Fields(test.env)...)
			if !slices.Equal(command.Env, env) {
				t.Errorf("env %q, want %q", command.Env, env)
			}
			if !command.ParentDeath || command.CloseStdin || command.Text || !slices.Contains(command.Drop, "CLAUDECODE") {
				t.Errorf("command %+v", command)
			}
		})
	}
}

// Claude Code as a plain program: the same words, but for what makes it speak lines.
func TestConversationHasID(t *testing.T) {
	const id = "6f1c2a34-0000-4000-8000-000000000000"
	for name, row := range map[string]struct {
		flags []string
		want  string // known beforehand
		added bool
	}{
		"ralph's":                             {nil, id, true},
		"the user's":                          {[]string{"--session-id", "mine"}, "mine", false},
		"of a conversation that is continued": {[]string{"--resume=mine"}, "mine", false},
		"in short":                            {[]string{"-r", "mine"}, "mine", false},
		"one that the user would choose":      {[]string{"--resume", "--verbose"}, "", false},
		"the last one":                        {[]string{"--continue"}, "", false},
		"a branch of another":                 {[]string{"--resume", "mine", "--fork-session"}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			d := New(nil)
			command, err := d.Command(agent.Spec{Command: []string{"claude"}, Flags: row.flags, Session: id})
			if err != nil {
				t.Fatal(err)
			}
			if added := strings.Contains(strings.Join(command.Argv, " "), "--session-id "+id); d.Session() != row.want || added != row.added {
				t.Errorf("session %q, added %t: %q", d.Session(), added, command.Argv)
			}
			d.Open(agent.Prompt{Text: "go", Iteration: 1})
			if decode(d, `{"type":"system","subtype":"init","session_id":"its"}`); d.Session() != "its" {
				t.Errorf("session %q after the first line", d.Session())
			}
		})
	}
}

func TestTextCommand(t *testing.T) {
	for name, row := range map[string]struct {
		spec agent.Spec
		want string
	}{
		"it prints text, and no person is asked": {agent.Spec{Command: []string{"claude"}}, "claude --print --output-format text --dangerously-skip-permissions"},
		"root may not skip permissions": {agent.Spec{Command: []string{"claude"}, Root: true},
			"claude --print --output-format text --permission-mode acceptEdits --allowedTools " + rootTools + " --disallowedTools " + unanswered},
		"it denies by itself": {agent.Spec{Command: []string{"claude"}, Permissions: agent.PermitWorkspace},
			"claude --print --output-format text --permission-mode acceptEdits --disallowedTools " + unanswered},
		"settings become flags": {agent.Spec{Command: []string{"npx", "claude"}, Model: "opus", Thinking: "high"},
			"npx claude --print --output-format text --dangerously-skip-permissions --model opus --effort high"},
		"the user's flags win": {agent.Spec{Command: []string{"claude"}, Model: "opus", Flags: []string{"-p", "--output-format=json", "--permission-mode", "plan", "--model", "mine"}},
			"claude -p --output-format=json --permission-mode plan --model mine"},
	} {
		t.Run(name, func(t *testing.T) {
			command, err := TextCommand(row.spec)
			if got := strings.Join(command.Argv, " "); err != nil || got != row.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, row.want)
			}
			if !slices.Equal(command.Env, environment) {
				t.Errorf("env %q", command.Env)
			}
		})
	}
	if _, err := TextCommand(agent.Spec{Command: []string{"claude"}, Provider: "openai"}); err == nil {
		t.Error("an unknown provider was taken")
	}
}

func TestAmpTextCommand(t *testing.T) {
	command, err := AmpTextCommand(agent.Spec{Command: []string{"amp"}, Flags: []string{"--label", "a"}, Prompt: "go"})
	if got, want := strings.Join(command.Argv, " "), "amp --dangerously-allow-all --label a -x go"; err != nil || got != want || !command.CloseStdin {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

// A program that does not know a flag refuses to start, so it is asked before; unless the user
// knows better.
func TestPartialMessagesNeedFlag(t *testing.T) {
	const flag = "--include-partial-messages"
	for name, row := range map[string]struct {
		ask    agent.Ask // of the program
		flags  []string
		want   int // times that the flag is there
		notice bool
	}{
		"no program is asked":  {nil, nil, 1, false},
		"one that has it":      {answers("  "+flag+"  Include chunks\n", 0, true), nil, 1, false},
		"an older one":         {answers("  --input-format <format>\n", 0, true), nil, 0, true},
		"one that fails":       {answers(flag, 1, true), nil, 0, false},
		"one that is silent":   {answers("", 0, false), nil, 0, false},
		"a user who says that": {answers("", 0, true), []string{flag}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			command, err := New(row.ask).Command(agent.Spec{Command: []string{"npx", "claude"}, Flags: row.flags})
			if err != nil {
				t.Fatal(err)
			}
			got := 0
			for _, word := range command.Argv {
				if word == flag {
					got++
				}
			}
			if got != row.want || strings.Contains(command.Notice, flag) != row.notice || (command.Notice != "") != row.notice {
				t.Errorf("%q, notice %q", command.Argv, command.Notice)
			}
		})
	}
}

// answers is a program that answers to npx claude --help, and to nothing else.
func answers(said string, code int, ok bool) agent.Ask {
	return func(argv []string) (string, int, bool) {
		if !slices.Equal(argv, []string{"npx", "claude", "--help"}) {
			return "", 64, true
		}
		return said, code, ok
	}
}

// ralph's hooks are settings of their own, unless the user's flags have some.
func TestHooksAreAdded(t *testing.T) {
	spec := agent.Spec{Command: []string{"claude"}, Hooks: "/it's/ralph"}
	cmd, err := New(nil).Command(spec)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(cmd.Argv, "--settings")
	if at < 0 || !strings.Contains(cmd.Argv[at+1], `"PreToolUse":[{"matcher":"Bash|Write|Edit|MultiEdit|NotebookEdit|Read|Grep","hooks":[{"type":"command","command":"'/it'\\''s/ralph' hook pre-tool-use","timeout":10}]}]`) {
		t.Errorf("%q", cmd.Argv)
	}
	spec.Flags = []string{"--settings", "mine.json"}
	if cmd, err = New(nil).Command(spec); err != nil || strings.Contains(strings.Join(cmd.Argv, " "), "pre-tool-use") || !strings.Contains(cmd.Notice, "ralph's hooks are not given") {
		t.Errorf("%q, %q, %v", cmd.Argv, cmd.Notice, err)
	}
}
