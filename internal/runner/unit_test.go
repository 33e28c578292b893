package runner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/effect/otlp"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/redact"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/journal/event"
)

// Each setting that a decision depends on has to reach the journal under its own name.
func TestRulesFollowSettings(t *testing.T) {
	s := config.Settings{
		MaximumIterations: 1, CompletionResponse: "r",
		Completion: config.Completion{Promise: "p", Match: "anywhere", MinToolCalls: 2, OnPromiseNoWork: "warn"},
		Limits: config.Limits{
			Cost: 3.5, Tokens: 4, Duration: config.Duration(5 * time.Millisecond), Idle: config.Duration(6 * time.Second),
			Iteration: config.Duration(7 * time.Minute), ExitGrace: config.Duration(8 * time.Hour),
		},
		Restart: config.Restart{Max: 9, Delay: config.Duration(10 * time.Second)},
		Breaker: config.Breaker{Environment: 11},
	}
	want := event.Rules{
		MaximumIterations:  1,
		CompletionResponse: "r",
		Completion:         event.CompletionRules{Promise: "p", Match: "anywhere", MinToolCalls: 2, OnPromiseNoWork: "warn"},
		Limits:             event.LimitRules{Cost: 3.5, Tokens: 4, Duration: event.Duration(5 * time.Millisecond), Idle: event.Duration(6 * time.Second), Iteration: event.Duration(7 * time.Minute), ExitGrace: event.Duration(8 * time.Hour)},
		Restart:            event.RestartRules{Max: 9, Delay: event.Duration(10 * time.Second)},
		Breaker:            event.BreakerRules{Environment: 11},
	}
	if diff := cmp.Diff(want, Rules(s)); diff != "" {
		t.Error(diff)
	}
}

// Exactly the keys that are live in the settings can be set while a loop runs.
func TestLiveSettings(t *testing.T) {
	live := 0
	for _, key := range config.Keys() {
		value := "3"
		if key.Kind == config.KindDuration {
			value = "3m"
		}
		_, err := policy.SetRule(Rules(config.Defaults()), key.Name, value)
		if (err == nil) != key.Live {
			t.Errorf("%s is live in the settings: %v; in the loop: %v", key.Name, key.Live, err)
		}
		if key.Live {
			live++
		}
	}
	if live < 5 {
		t.Errorf("only %d keys are live", live)
	}
}

func TestProtocolsHaveDialects(t *testing.T) {
	for _, protocol := range []string{"claude", "pi", "rehearsal", "text"} {
		if d, err := Dialect(config.Agent{Command: "x", Protocol: protocol}); err != nil || d == nil {
			t.Errorf("%s: %v", protocol, err)
		}
	}
	if _, err := Dialect(config.Agent{Command: "x", Protocol: "moon"}); err == nil || !strings.Contains(err.Error(), `"moon"`) {
		t.Errorf("%v", err)
	}
	// Two conversations share nothing.
	a, _ := Dialect(config.Agent{Protocol: "pi"})
	b, _ := Dialect(config.Agent{Protocol: "pi"})
	if a == b {
		t.Error("two conversations are one")
	}
}

// agentSettings returns settings with an agent alone.
func agentSettings(s config.Settings, a config.Agent) config.Settings {
	name := config.Settings{}.NameOf(a.Command)
	s.Agent = config.AgentNames{a.Command}
	a.Command = ""
	s.Agents = map[string]config.Agent{name: a}
	return s
}

// of returns a runner that runs an agent, without a loop.
func of(a config.Agent, env ...string) *runner {
	s := agentSettings(config.Defaults(), a)
	r := &runner{Config: Config{Name: "demo", Dir: "/p/.ralph/demo", Project: "/p", WorkDir: "/p", Settings: s, Env: env}, id: "01JD"}
	r.redactor = redact.New(env)
	r.decideKeys()
	return r
}

func TestAgentConfig(t *testing.T) {
	r := of(config.Agent{Command: "npx pi", Flags: []string{"--no-session", "--name 'a b'"}, Model: "m", Provider: "v", Thinking: "high"})
	r.Settings.Journal.Raw = true
	cfg, err := r.agent(0, agent.Prompt{Text: "go on", Iteration: 3})
	if err != nil {
		t.Fatal(err)
	}
	want := agent.Spec{
		Command: []string{"npx", "pi"}, Flags: []string{"--no-session", "--name", "a b"}, Model: "m", Provider: "v", Thinking: "high",
		Dir: "/p", LoopDir: "/p/.ralph/demo", Iteration: 3, Prompt: "go on", Root: os.Geteuid() == 0,
	}
	if diff := cmp.Diff(want, cfg.Spec); diff != "" {
		t.Error(diff)
	}
	if cfg.Name != "pi" || cfg.Mark != process.AgentMark(r.Home, "01JD") || !cfg.KeepRaw || cfg.Secrets == nil {
		t.Errorf("%+v", cfg)
	}
	if about := r.about()[0]; about.Name != "" || about.Protocol != "pi" || !slices.Equal(about.Command, []string{"npx pi", "--no-session", "--name 'a b'"}) {
		t.Errorf("%+v", about)
	}
}

func TestAgentsHaveNames(t *testing.T) {
	r := of(config.Agent{Command: "claude"})
	r.Settings.Agent = config.AgentNames{"claude", "second", "npx -y @anthropic-ai/claude-code@latest", "claude", "./agent.sh"}
	r.Settings.Agents = map[string]config.Agent{
		"second": {Command: "claude", Env: map[string]string{"CLAUDE_CONFIG_DIR": "/b"}},
		"agent":  {Protocol: "text"},
	}
	r.keys = nil
	r.decideKeys()
	var names []string
	for i, about := range r.about() {
		cfg, err := r.agent(i, agent.Prompt{})
		if err != nil {
			t.Fatal(err)
		}
		if cfg.Name != about.Name {
			t.Errorf("agent %d speaks as %s and is called %s", i, cfg.Name, about.Name)
		}
		names = append(names, about.Name)
		if explains := r.explainsMemory(i); explains == (about.Protocol == "text") {
			t.Errorf("the prompt of %s explains task.md: %v", about.Name, explains)
		}
	}
	if want := []string{"claude", "second", "claude-code", "claude-2", "agent"}; !slices.Equal(names, want) {
		t.Errorf("they are called %q, want %q", names, want)
	}
	second, err := r.agent(1, agent.Prompt{})
	if err != nil || !slices.Contains(second.Env, "CLAUDE_CONFIG_DIR=/b") {
		t.Errorf("the second has %q, %v", second.Env, err)
	}
	if _, err := r.agent(5, agent.Prompt{}); err == nil {
		t.Error("there is a sixth")
	}
}

func TestInvalidAgentSettings(t *testing.T) {
	for name, a := range map[string]config.Agent{
		"an unknown protocol":        {Command: "x", Protocol: "moon"},
		"a quote that stays open":    {Command: "sh -c 'x", Protocol: "text"},
		"a flag's quote stays open":  {Command: "sh", Flags: []string{"-c 'x"}, Protocol: "text"},
		"a command that is no words": {Command: "  ", Protocol: "text"},
	} {
		if _, err := of(a).agent(0, agent.Prompt{}); err == nil {
			t.Errorf("%s: it was accepted", name)
		}
	}
}

func TestAgentEnvironment(t *testing.T) {
	outer := []string{
		"PATH=/bin", "CLAUDECODE=1", "RALPH_LOOP=outer", "ANTHROPIC_API_KEY=a", "ANTHROPIC_AUTH_TOKEN=b", "OPENAI_API_KEY=c", "CODEX_API_KEY=d",
	}
	common := []string{"RALPH_LOOP=demo", "RALPH_LOOP_DIR=/p/.ralph/demo", "RALPH_ITERATION=3", "TASK_FOLDER=/p/.ralph/demo", "TRACEPARENT=" + otlp.TraceParent("01JD", "", 3)}
	for name, row := range map[string]struct {
		agent config.Agent
		want  []string // besides the variables of every agent
	}{
		"claude pays by its login":          {config.Agent{Command: "claude"}, []string{"PATH=/bin", "OPENAI_API_KEY=c", "CODEX_API_KEY=d"}},
		"codex pays by its login":           {config.Agent{Command: "codex"}, []string{"PATH=/bin", "ANTHROPIC_API_KEY=a", "ANTHROPIC_AUTH_TOKEN=b"}},
		"unless the settings say otherwise": {config.Agent{Command: "claude", PassKeys: "true"}, []string{"PATH=/bin", "ANTHROPIC_API_KEY=a", "ANTHROPIC_AUTH_TOKEN=b", "OPENAI_API_KEY=c", "CODEX_API_KEY=d"}},
		"for one key, or for all":           {config.Agent{Command: "claude", PassKeys: "ANTHROPIC_AUTH_TOKEN,OTHER"}, []string{"PATH=/bin", "ANTHROPIC_AUTH_TOKEN=b", "OPENAI_API_KEY=c", "CODEX_API_KEY=d"}},
		"an agent without a login gets all": {config.Agent{Command: "pi"}, []string{"PATH=/bin", "ANTHROPIC_API_KEY=a", "ANTHROPIC_AUTH_TOKEN=b", "OPENAI_API_KEY=c", "CODEX_API_KEY=d"}},
		"what the settings name is added":   {config.Agent{Command: "claude", Env: map[string]string{"ANTHROPIC_API_KEY": "mine"}}, []string{"PATH=/bin", "OPENAI_API_KEY=c", "CODEX_API_KEY=d", "ANTHROPIC_API_KEY=mine"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := of(row.agent, outer...).environment(0, 3)
			want := slices.Concat(row.want, common)
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The environment of each agent's process is the user's, without the variables of a parent agent
// and the keys that its own login replaces, plus ralph's.
func TestEnvironmentOfEachAgent(t *testing.T) {
	keys := []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "CODEX_API_KEY"}
	others := []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GH_TOKEN", "COPILOT_PROVIDER_API_KEY", "AMP_API_KEY", "CURSOR_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "EDITOR", "HOME"}
	claude, codex := keys[:2], keys[2:]
	withheld := map[string][]string{
		"claude": claude, "npx @anthropic-ai/claude-code": claude, "claude-agent-acp": claude, "claude-code-acp": claude, "/x/claude.sh": claude,
		"codex": codex, "node /x/node_modules/@openai/codex/bin/codex.js": codex, "codex-acp": codex,
		"pi": nil, "amp": nil, "opencode": nil, "gemini": nil, "copilot": nil, "qwen": nil, "goose": nil, "cursor-agent": nil, "kimi": nil, "pi-acp": nil, "./my-agent": nil,
	}
	for _, known := range config.KnownAgents() {
		if _, ok := withheld[known.Program]; !ok {
			t.Errorf("no case says which keys %s gets", known.Program)
		}
	}
	var user []string
	for _, name := range slices.Concat(keys, others, process.NestingMarks) {
		user = append(user, name+"=users")
	}
	look := func(t *testing.T, a config.Agent, without []string) {
		r := of(a, user...)
		cfg, err := r.agent(0, agent.Prompt{Text: "go", Iteration: 3})
		if err != nil {
			t.Fatal(err)
		}
		command, err := cfg.Dialect.Command(cfg.Spec)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, name := range slices.Concat(keys, others) {
			if !slices.Contains(without, name) {
				want = append(want, name+"=users")
			}
		}
		want = slices.Concat(want, command.Env, []string{"RALPH_LOOP=demo", "RALPH_LOOP_DIR=/p/.ralph/demo", "RALPH_ITERATION=3", "TASK_FOLDER=/p/.ralph/demo", "TRACEPARENT=" + otlp.TraceParent("01JD", "", 3)})
		got := process.Environment(cfg.Env, command.Drop, slices.Concat(command.Env, cfg.Own))
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	for command, without := range withheld {
		t.Run(command, func(t *testing.T) {
			look(t, config.Agent{Command: command, PassKeys: "false"}, without)
			look(t, config.Agent{Command: command, PassKeys: "true"}, nil)
		})
	}
	t.Run("claude as plain text", func(t *testing.T) {
		look(t, config.Agent{Command: "claude", Protocol: config.ProtocolText, PassKeys: "false"}, claude)
	})
	t.Run("what is said to speak as claude", func(t *testing.T) {
		look(t, config.Agent{Command: "./mine", Protocol: config.ProtocolClaude, PassKeys: "false"}, claude)
	})
	t.Run("qwen, which speaks as claude", func(t *testing.T) { look(t, config.Agent{Command: "qwen", Protocol: config.ProtocolClaude}, nil) })
}

// Each agent that the settings know by name has a profile in its dialect.
func TestACPAgentProfiles(t *testing.T) {
	for _, known := range config.KnownAgents() {
		if known.Protocol != config.ProtocolACP {
			continue
		}
		// The error names the profile.
		_, _, err := Prepared(config.Agent{Command: known.Program, Provider: "p"}, t.TempDir(), nil)
		if err == nil || strings.Contains(err.Error(), "acp: agent takes") {
			t.Errorf("%s: %v", known.Program, err)
		}
	}
}

// A flag of the agent replaces the one that ralph or a setting adds, and comes last; a variable
// in its env replaces ralph's.
func TestUserFlagsWin(t *testing.T) {
	// These flags have one value, because ralph cannot drive the agent without it.
	only := map[string]string{"--mode": "rpc", "--input-format": "stream-json", "--output-format": "stream-json"}
	agents := []config.Agent{{Command: "codex", Flags: []string{"exec"}}, {Command: "qwen", Protocol: config.ProtocolClaude}}
	for _, known := range config.KnownAgents() {
		agents = append(agents, config.Agent{Command: known.Program})
	}
	for _, a := range agents {
		a.Model = "m"
		t.Run(strings.TrimPrefix(a.Command+" "+a.Protocol+strings.Join(a.Flags, " "), " "), func(t *testing.T) {
			_, usual, err := Prepared(a, t.TempDir(), nil)
			if err != nil {
				t.Fatal(err)
			}
			words := usual.Argv[1:]
			if n := len(words); a.Command == "amp" {
				words = words[:n-2] // -x and the prompt, which ralph always adds
			}
			for i, word := range words {
				if word == "-c" || word == a.Model || i > 0 && (words[i-1] == "-c" || only[words[i-1]] == word || strings.HasPrefix(words[i-1], "--") && !strings.HasPrefix(word, "-")) || slices.Contains(a.Flags, word) {
					continue // a value, or Codex's configuration, whose keys package codex tests
				}
				mine := []string{word}
				if i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
					mine = append(mine, "mine")
					if value, ok := only[word]; ok {
						mine[1] = value
					}
				}
				b := a
				b.Flags = slices.Concat(a.Flags, mine)
				_, given, err := Prepared(b, t.TempDir(), nil)
				if err != nil {
					t.Errorf("%q: %v", mine, err)
					continue
				}
				all := given.Argv
				if a.Command == "amp" {
					all = all[:len(all)-2]
				}
				n := len(all) - len(mine)
				if slices.Contains(all[:n], word) || !slices.Equal(all[n:], mine) {
					t.Errorf("with %q of the user it is %q", mine, given.Argv)
				}
			}
			for _, entry := range usual.Env {
				name, _, _ := strings.Cut(entry, "=")
				b := a
				b.Env = map[string]string{name: "mine"}
				cfg, err := of(b, "HOME=/h").agent(0, agent.Prompt{})
				if err != nil {
					t.Fatal(err)
				}
				if got := process.Environment(cfg.Env, usual.Drop, slices.Concat(usual.Env, cfg.Own)); !slices.Contains(got, name+"=mine") {
					t.Errorf("%s stays ralph's in %q", name, got)
				}
			}
		})
	}
}

func TestSettingsOverrideEnvironment(t *testing.T) {
	a := config.Agent{Command: "pi", Env: map[string]string{"EDITOR": "ed"}}
	env := of(a, "EDITOR=vi").environment(0, 3)
	last := map[string]string{}
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		last[name] = value // a program sees the last of several with one name
	}
	if last["EDITOR"] != "ed" {
		t.Errorf("EDITOR is %q", last["EDITOR"])
	}
}

func TestPromptFilePath(t *testing.T) {
	project := t.TempDir()
	for _, name := range []string{"prompt.md", filepath.Join("docs", "prompt.md")} {
		path := filepath.Join(project, name)
		testfile.Write(t, path, name)
	}
	r := of(config.Agent{Command: "pi"})
	r.Project = project
	for asked, want := range map[string]string{
		"prompt.md": "prompt.md", "./docs/prompt.md": filepath.Join("docs", "prompt.md"), filepath.Join(project, "prompt.md"): "prompt.md",
	} {
		if text, err := r.readFile(asked); err != nil || string(text) != want {
			t.Errorf("%s is %q, %v", asked, text, err)
		}
	}
	if _, err := r.readFile("absent.md"); err == nil {
		t.Error("a file that is not there was read")
	}
}

func TestBlobNames(t *testing.T) {
	r := of(config.Agent{Command: "pi"})
	r.Dir = t.TempDir()
	if _, err := r.readBlob("ab"); err == nil {
		t.Error("a blob was read where there are none")
	}
	if err := os.Mkdir(filepath.Join(r.Dir, "blobs"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{"blobs/ab": "long", "secret": "hidden"} {
		testfile.Write(t, filepath.Join(r.Dir, path), text)
	}
	if text, err := r.readBlob("ab"); err != nil || string(text) != "long" {
		t.Errorf("%q, %v", text, err)
	}
	for _, name := range []string{"../secret", filepath.Join(r.Dir, "secret"), "", "."} {
		if text, err := r.readBlob(event.BlobRef(name)); err == nil {
			t.Errorf("%q is %q", name, text)
		}
	}
}

func TestNewID(t *testing.T) {
	at := time.Date(2026, 11, 21, 1, 52, 28, 0, time.UTC)
	a, b := NewID(at), NewID(at)
	if len(a) != 26 || a == b || a[:10] != b[:10] || NewID(at.Add(time.Second)) <= a {
		t.Errorf("%s %s", a, b)
	}
}

func TestResumedRules(t *testing.T) {
	before := event.Rules{MaximumIterations: 10, Limits: event.LimitRules{Cost: 5, Idle: event.Duration(time.Second)}}
	had := event.Rules{MaximumIterations: 30, Limits: event.LimitRules{Cost: 5, Idle: event.Duration(time.Second)}}
	now := event.Rules{MaximumIterations: 10, Limits: event.LimitRules{Cost: 7, Idle: event.Duration(time.Second)}}
	if got, want := changed(had, before, now), (event.Rules{MaximumIterations: 30, Limits: event.LimitRules{Cost: 7, Idle: event.Duration(time.Second)}}); !cmp.Equal(got, want) {
		t.Errorf("the rules are %+v, want %+v", got, want)
	}
	now.MaximumIterations = 20
	if got := changed(had, before, now); got.MaximumIterations != 20 {
		t.Errorf("a person who says 20 gets %d iterations", got.MaximumIterations)
	}
}
