package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitFlags(t *testing.T) {
	for name, row := range map[string]struct {
		flags []string
		want  []string
	}{
		"none":                                  {nil, []string{}},
		"a flag and its value in one entry":     {[]string{"--model opus", "--no-auto-compact"}, []string{"--model", "opus", "--no-auto-compact"}},
		"a value with a space in single quotes": {[]string{"--note 'two words'"}, []string{"--note", "two words"}},
		"a value with a space in double quotes": {[]string{`--note="two \"words\" \d"`}, []string{`--note=two "words" \d`}},
		"an empty value in quotes":              {[]string{`--note ''`}, []string{"--note", ""}},
		"a backslash before a space":            {[]string{`--note two\ words`}, []string{"--note", "two words"}},
		"quotes within a word":                  {[]string{`--a=b' c 'd`}, []string{"--a=b c d"}},
		"tabs and line breaks":                  {[]string{"--a\t1\n2"}, []string{"--a", "1", "2"}},
		"nothing is expanded":                   {[]string{"--a $HOME *.go ~ ;"}, []string{"--a", "$HOME", "*.go", "~", ";"}},
		"an entry without dash stays as it is":  {[]string{"--note", "two 'words", ""}, []string{"--note", "two 'words", ""}},
	} {
		got, err := SplitFlags(row.flags)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestSplitFlagsErrors(t *testing.T) {
	for flag, want := range map[string]string{
		`--a 'b`: `"--a 'b": closing quote ' is missing`,
		`--a "b`: `"--a \"b": closing quote " is missing`,
		`--a b\`: `"--a b\\": ends with a lone backslash`,
	} {
		if _, err := SplitFlags([]string{flag}); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", flag, err, want)
		}
	}
}

func TestArgv(t *testing.T) {
	for name, row := range map[string]struct {
		agent Agent
		want  []string
	}{
		"a name and flags":               {Agent{Command: "claude", Flags: []string{"--model opus"}}, []string{"claude", "--model", "opus"}},
		"a command with arguments":       {Agent{Command: "npx @openai/codex", Flags: []string{"--x"}}, []string{"npx", "@openai/codex", "--x"}},
		"a path of another system":       {Agent{Command: `C:\tools\claude.exe`}, []string{`C:\tools\claude.exe`}},
		"a path with a space, in quotes": {Agent{Command: `'/opt/my tools/pi' --x`}, []string{"/opt/my tools/pi", "--x"}},
	} {
		got, err := row.agent.Argv()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// FuzzSplitFlags: words that were quoted come back, and no text makes it panic.
func FuzzSplitFlags(f *testing.F) {
	f.Add("--model opus", "x")
	f.Add(`--a "b\`, `it's`)
	f.Add("-'", "a\\\n\"b")
	f.Fuzz(func(t *testing.T, flag, word string) {
		if words, err := SplitFlags([]string{flag}); err == nil && strings.HasPrefix(flag, "-") {
			for _, w := range words {
				if len(w) > len(flag) {
					t.Errorf("%q grew to %q", flag, w)
				}
			}
		}
		quoted := "-x '" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		got, err := SplitFlags([]string{quoted})
		if err != nil || !slices.Equal(got, []string{"-x", word}) {
			t.Errorf("%q became %q, %v", quoted, got, err)
		}
	})
}

func TestProtocolInference(t *testing.T) {
	for _, row := range []struct {
		command string
		args    string
		want    string
	}{
		{"claude", "", ProtocolClaude},
		{"/usr/local/bin/claude", "--model opus", ProtocolClaude},
		{`C:\tools\Claude.EXE`, "", ProtocolClaude},
		{"pi", "", ProtocolPi},
		{"codex", "exec", ProtocolCodex},
		{"amp", "", ProtocolAmp},
		{"opencode", "", ProtocolACP},
		{"gemini", "--acp", ProtocolACP},
		{"copilot", "", ProtocolACP},
		{"qwen", "", ProtocolACP},
		{"goose", "acp", ProtocolACP},
		{"kimi", "acp", ProtocolACP},
		{"my-agent", "--acp", ProtocolACP},
		{"claude-agent-acp", "", ProtocolACP},
		{"ralph", "rehearse story.json", ProtocolRehearsal},
		{"ralph rehearse", "story.json", ProtocolRehearsal},
		{"./bin/ralph", "rehearse", ProtocolRehearsal},
		{"ralph", "list", ProtocolText},
		{"npx @anthropic-ai/claude-code", "", ProtocolClaude},
		{"npx", "-y @anthropic-ai/claude-code@latest --verbose", ProtocolClaude},
		{"npx", "-p typescript codex", ProtocolCodex},
		{"npx", "@agentclientprotocol/codex-acp@1.2.3", ProtocolACP},
		{"bunx", "@openai/codex", ProtocolCodex},
		{"bun", "x --bun @sourcegraph/amp", ProtocolAmp},
		{"npx", "@ampcode/cli", ProtocolAmp},
		{"npm", "exec -- @google/gemini-cli", ProtocolACP},
		{"pnpm", "dlx opencode-ai", ProtocolACP},
		{"npx", "@github/copilot", ProtocolACP},
		{"npx", "@qwen-code/qwen-code", ProtocolACP},
		{"npx", "@earendil-works/pi-coding-agent@1.5.2", ProtocolPi},
		{"node", "/x/pi/dist/cli.js", ProtocolPi},
		{"node", "--import ./hook.mjs /x/node_modules/@anthropic-ai/claude-code/cli.js -p", ProtocolClaude},
		{"node", "/x/node_modules/.bin/pi", ProtocolPi},
		{"node", `C:\x\node_modules\@openai\codex\bin\codex.js`, ProtocolCodex},
		{"/x/pi/dist/bundle/cli.js", "", ProtocolPi},
		{"env FOO=bar -u BAZ npx claude", "", ProtocolClaude},
		{"node", "/home/pi/agent.js", ProtocolText},
		{"node", "", ProtocolText},
		{"npx", "", ProtocolText},
		{"", "", ProtocolText},
		{"sh", "-c claude", ProtocolText},
		{"./claude-wrapper.sh", "", ProtocolText},
		{"./claude.sh", "", ProtocolClaude},
		{"tools/codex.py", "--fast", ProtocolCodex},
		{"/x/bin/pi.bash", "", ProtocolPi},
		{"uvx", "--from goose-cli goose", ProtocolACP},
		{"'claude", "x", ProtocolText},
		{"echo 'claude", "", ProtocolText},
	} {
		if got := (Agent{Command: row.command, Flags: strings.Fields(row.args)}).ResolvedProtocol(); got != row.want {
			t.Errorf("%s %s speaks %s, want %s", row.command, row.args, got, row.want)
		}
	}
}

// Each agent is known by each of its names, with any launcher.
func TestKnownAgentsBehindLaunchers(t *testing.T) {
	for _, known := range KnownAgents() {
		for _, name := range append([]string{known.Program}, known.also...) {
			for _, command := range []string{
				name, "/usr/local/bin/" + name, `C:\tools\` + name + ".cmd", "./" + name + ".sh", "tools/" + name + ".py",
				"npx " + name, "npx -y " + name + "@latest", "npx -p typescript @scope/" + name + "@1.2.3", "bunx " + name, "bun x " + name,
				"pnpm dlx " + name, "npm exec -- " + name, "uvx " + name, "env A=b " + name, "nice -n 5 " + name,
				"node /x/node_modules/.bin/" + name, "node /x/node_modules/" + name + "/dist/index.js", "node --import ./hook.mjs /x/" + name + "/bundle/cli.js",
				"node /x/node_modules/@scope/" + name + "/bin/" + name + ".js",
			} {
				if got := (Agent{Command: command}).ResolvedProtocol(); got != known.Protocol {
					t.Errorf("%s speaks %s, want %s", command, got, known.Protocol)
				}
				if got, ok := (Agent{Command: command}).Known(); !ok || got.Program != known.Program {
					t.Errorf("%s is %s", command, got.Program)
				}
			}
		}
	}
}

func TestKnown(t *testing.T) {
	for name, row := range map[string]struct {
		agent Agent
		want  string
	}{
		"its program, whatever it speaks":       {Agent{Command: "qwen", Protocol: ProtocolClaude}, "qwen"},
		"also as plain text":                    {Agent{Command: "claude", Protocol: ProtocolText}, "claude"},
		"else whose protocol it speaks":         {Agent{Command: "./mine", Protocol: ProtocolCodex}, "codex"},
		"many speak ACP":                        {Agent{Command: "./mine", Protocol: ProtocolACP}, ""},
		"any program prints text":               {Agent{Command: "./mine"}, ""},
		"a program among the flags is seen too": {Agent{Command: "npx", Flags: []string{"-y @google/gemini-cli"}}, "gemini"},
	} {
		if got, _ := row.agent.Known(); got.Program != row.want {
			t.Errorf("%s: %q, want %q", name, got.Program, row.want)
		}
	}
}

func TestProtocolSettingOverridesInference(t *testing.T) {
	for _, row := range []struct {
		agent Agent
		want  string
	}{
		{Agent{Command: "claude"}, ProtocolClaude},
		{Agent{Command: "claude", Protocol: ProtocolText}, ProtocolText},
		{Agent{Command: "x", Flags: []string{"--model opus --acp"}}, ProtocolACP},
	} {
		if got := row.agent.ResolvedProtocol(); got != row.want {
			t.Errorf("%+v speaks %s, want %s", row.agent, got, row.want)
		}
	}
}

func TestAgentNamesAreUnique(t *testing.T) {
	for name, row := range map[string]struct {
		agents []Agent
		want   []string
	}{
		"none":                            {nil, nil},
		"that of their programs":          {[]Agent{{Command: "/usr/bin/claude"}, {Command: "npx -y opencode-ai@latest acp"}, {Command: "./my agent.sh", Protocol: "text"}}, []string{"claude", "opencode-ai", "my"}},
		"a number where it is the same":   {[]Agent{{Command: "claude"}, {Command: "claude --model x"}, {Command: "claude"}}, []string{"claude", "claude-2", "claude-3"}},
		"a number that is not taken":      {[]Agent{{Command: "claude"}, {Command: "claude-2"}, {Command: "claude"}}, []string{"claude", "claude-2", "claude-3"}},
		"that of the scenario":            {[]Agent{{Command: "ralph rehearse a/night.rehearsal"}, {Command: "ralph rehearse", Flags: []string{"demo"}}}, []string{"night", "demo"}},
		"one word":                        {[]Agent{{Command: "'/x/my agent'"}}, []string{"my-agent"}},
		"their protocol's for lack of it": {[]Agent{{Command: "npx", Protocol: "pi"}, {Command: "a 'quote", Protocol: "text"}}, []string{"pi", "text"}},
	} {
		if got := Names(row.agents); !slices.Equal(got, row.want) {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}
