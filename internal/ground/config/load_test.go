package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/testkit/testfile"
)

// layers is a home and a project folder with the files given.
type layers struct {
	home, project, local string
	env                  []string
	flags                map[string]string
}

func (l layers) source(t *testing.T) Source {
	t.Helper()
	home, project := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		filepath.Join(home, "settings.json"):                    l.home,
		filepath.Join(project, ".ralph", "settings.json"):       l.project,
		filepath.Join(project, ".ralph", "settings.local.json"): l.local,
	} {
		if text == "" {
			continue
		}
		testfile.Write(t, path, text)
	}
	return Source{HomeDir: home, ProjectDir: project, Env: l.env, Flags: l.flags}
}

func TestLayersMerge(t *testing.T) {
	for name, row := range map[string]struct {
		layers layers
		want   func(*Settings)
	}{
		"without any layer the defaults hold": {layers{}, func(*Settings) {}},
		"the project beats home, local beats the project": {
			layers{
				home:    `{"maximumIterations": 1, "reflect": {"every": 1}, "context": "same"}`,
				project: `{"maximumIterations": 2, "reflect": {"every": 2}}`,
				local:   `{"maximumIterations": 3}`,
			},
			func(s *Settings) { s.MaximumIterations, s.Reflect.Every, s.Context = 3, 2, "same" },
		},
		"a variable beats files, a flag beats a variable": {
			layers{
				local: `{"maximumIterations": 3, "limits": {"idle": "1m", "iteration": "1m"}}`,
				env:   []string{"RALPH_MAXIMUM_ITERATIONS=4", "RALPH_LIMITS_IDLE=4m"},
				flags: map[string]string{"maximumIterations": "5"},
			},
			func(s *Settings) { s.MaximumIterations, s.Limits.Idle, s.Limits.Iteration = 5, 4*minute, minute },
		},
		"objects merge and lists replace": {
			layers{
				project: `{"agent": "claude", "agents": {"claude": {"flags": ["--model opus", "--x"], "model": "m"}}, "guardrails": [{"command": "a"}, {"command": "b"}]}`,
				local:   `{"agents": {"claude": {"flags": ["--verbose"]}, "fast": {"model": "f"}}, "guardrails": [{"command": "c", "failAction": "REPLACE"}]}`,
			},
			func(s *Settings) {
				s.Agent = AgentNames{"claude"}
				s.Agents = map[string]Agent{"claude": {Flags: []string{"--verbose"}, Model: "m"}, "fast": {Model: "f"}}
				s.Guardrails = []Guardrail{{Command: "c", FailAction: FailReplace}}
			},
		},
		"an empty list replaces too": {
			layers{project: `{"guardrails": [{"command": "a"}], "scm": {"command": "git", "tasks": ["commit"]}}`, local: `{"guardrails": [], "scm": {"tasks": []}}`},
			func(s *Settings) { s.SCM.Command = "git" },
		},
		"the agent's environment merges name by name": {
			layers{
				project: `{"agents": {"a": {"env": {"A": "1", "B": "1"}}}}`,
				local:   `{"agents": {"a": {"env": {"B": "2"}}}}`,
				flags:   map[string]string{"agents.a.env.C": "x=y"},
			},
			func(s *Settings) {
				s.Agents = map[string]Agent{"a": {Env: map[string]string{"A": "1", "B": "2", "C": "x=y"}}}
			},
		},
		"a guardrail without an action appends": {
			layers{project: `{"guardrails": [{"command": "make lint", "hint": "Fix.", "timeout": "90s"}]}`},
			func(s *Settings) {
				s.Guardrails = []Guardrail{{Command: "make lint", FailAction: FailAppend, Hint: "Fix.", Timeout: 90 * second}}
			},
		},
		"null, none and 0 are no limit": {
			layers{project: `{"limits": {"idle": null, "iteration": "none", "exitGrace": "0s", "tool": "none", "maxOutage": "0s", "cost": 2.5}}`, flags: map[string]string{"limits.cost": "none"}},
			func(s *Settings) { s.Limits = Limits{} },
		},
		"an agent in a later layer replaces a list": {
			layers{project: `{"agent": ["claude", "codex"]}`, flags: map[string]string{"agent": "pi"}},
			func(s *Settings) { s.Agent = AgentNames{"pi"} },
		},
		"another agent in a later layer takes nothing of the one below but its permissions": {
			layers{
				home:    `{"agent": "claude", "agents": {"claude": {"model": "opus", "permissions": "ask"}, "codex": {"permissions": "workspace"}}}`,
				project: `{"review": {"agent": "codex"}}`,
				flags:   map[string]string{"agent": "/opt/bin/pi", "agents.pi.env.B": "2", "review.agent": "claude"},
			},
			func(s *Settings) {
				s.Agent, s.Review.Agent = AgentNames{"/opt/bin/pi"}, AgentNames{"claude"}
				s.Agents = map[string]Agent{"claude": {Model: "opus", Permissions: "ask"}, "codex": {Permissions: "workspace"}, "pi": {Env: map[string]string{"B": "2"}, Permissions: "ask"}}
			},
		},
		"another command of an agent takes nothing of the one below but its permissions": {
			layers{
				home:    `{"agents": {"a": {"command": "claude", "model": "opus", "flags": ["--x"], "protocol": "text", "env": {"A": "1"}, "permissions": "ask"}}}`,
				project: `{"agents": {"a": {"thinking": "high"}}}`,
				flags:   map[string]string{"agents.a.command": "/opt/bin/pi", "agents.a.env.B": "2"},
			},
			func(s *Settings) {
				s.Agents = map[string]Agent{"a": {Command: "/opt/bin/pi", Env: map[string]string{"B": "2"}, Permissions: "ask"}}
			},
		},
		"the same agent by another name keeps what the layers below say of it": {
			layers{
				home:  `{"agents": {"a": {"command": "claude", "model": "opus"}}}`,
				flags: map[string]string{"agents.a.command": "npx @anthropic-ai/claude-code@2", "agents.a.flags": "--x"},
			},
			func(s *Settings) {
				s.Agents = map[string]Agent{"a": {Command: "npx @anthropic-ai/claude-code@2", Model: "opus", Flags: []string{"--x"}}}
			},
		},
		"a list in a later layer replaces an agent": {
			layers{home: `{"agent": "pi"}`, project: `{"agent": ["claude", "codex"]}`},
			func(s *Settings) { s.Agent = AgentNames{"claude", "codex"} },
		},
		"an editor's $schema is no setting": {
			layers{project: `{"$schema": "ralph.schema.json", "agent": "x"}`},
			func(s *Settings) { s.Agent = AgentNames{"x"} },
		},
		"a byte order mark is skipped": {
			layers{project: "\ufeff{\"completionResponse\": \"x\"}"},
			func(s *Settings) { s.CompletionResponse = "x" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := Defaults()
			row.want(&want)
			loaded, err := Load(row.layers.source(t))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, loaded.Settings); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if len(loaded.Warnings) > 0 {
				t.Errorf("warnings: %q", loaded.Warnings)
			}
		})
	}
}

func TestVariablesOfEachKind(t *testing.T) {
	loaded, err := Load(Source{Env: []string{
		"PATH=/bin",
		"RALPH_HOME=/elsewhere", "RALPH_DEBUG=1", "RALPH_LOOP=x", "RALPH_LOOP_DIR=/x", "RALPH_ITERATION=3", "RALPH_RUN=01",
		"RALPH_MAXIMUM_ITERATIONS=3", "RALPH_MAXIMUM_ITERATIONS=7",
		"RALPH_STREAM_AGENT_OUTPUT=false",
		"RALPH_LIMITS_COST= 12.5 ",
		"RALPH_LIMITS_IDLE=none",
		"RALPH_AGENT=pi",
		"RALPH_AGENTS={\"pi\":{\"flags\":[\"--model opus\",\"--verbose\"],\"env\":{\"A\":\"1\"}}}",
		"RALPH_REVIEW_AGENT=[\"a, b\",\"c\"]",
		"RALPH_SCM={\"command\":\"git\"}",
		"RALPH_SCM_TASKS=[\"commit\",\"push\"]",
		"RALPH_GUARDRAILS=[{\"command\":\"make\"}]",
		"RALPH_CONTEXT=",
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := Defaults()
	want.MaximumIterations = 7
	want.StreamAgentOutput = false
	want.Limits.Cost, want.Limits.Idle = 12.5, 0
	want.Agent, want.Review.Agent = AgentNames{"pi"}, AgentNames{"a, b", "c"}
	want.Agents = map[string]Agent{"pi": {Flags: []string{"--model opus", "--verbose"}, Env: map[string]string{"A": "1"}}}
	want.SCM = SCM{Command: "git", Tasks: []string{"commit", "push"}, Draft: true}
	want.Guardrails = []Guardrail{{Command: "make", FailAction: FailAppend}}
	if diff := cmp.Diff(want, loaded.Settings); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if len(loaded.Warnings) > 0 {
		t.Errorf("warnings: %q", loaded.Warnings)
	}
}

func TestUnknownVariableWarns(t *testing.T) {
	loaded, err := Load(Source{Env: []string{"RALPH_MAX_ITERATIONS=3", "RALPH_ZZZZZZZZ=1"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"RALPH_MAX_ITERATIONS is no setting; did you mean RALPH_MAXIMUM_ITERATIONS?",
		"RALPH_ZZZZZZZZ is no setting",
	}
	if diff := cmp.Diff(want, loaded.Warnings); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Defaults(), loaded.Settings); diff != "" {
		t.Error(diff)
	}
}

func TestMistypedAgentWarns(t *testing.T) {
	loaded, err := Load(layers{
		project: `{"agent": ["cheapest", "claude", "./cheape"], "agents": {"cheaper": {"command": "pi"}, "claud": {}}}`,
		flags:   map[string]string{"review.agent": "cheape"},
	}.source(t))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"agents has no cheapest, so it is a program; did you mean cheaper?", "agents has no ./cheape, so it is a program; did you mean cheaper?",
		"agents has no cheape, so it is a program; did you mean cheaper?",
	}
	if diff := cmp.Diff(want, loaded.Warnings); diff != "" {
		t.Error(diff)
	}
}

func TestOriginsNameWinningLayer(t *testing.T) {
	source := layers{
		home:    `{"context": "same"}`,
		project: "{\n  \"maximumIterations\": 2,\n  \"agents\": {\"pi\": {\n    \"env\": {\"A\": \"1\"},\n    \"model\": \"m\"\n  }}\n}",
		local:   "{\"guardrails\": [{\"command\": \"make\"}], \"maximumIterations\": 3}",
		env:     []string{"RALPH_LIMITS_IDLE=1m"},
		flags:   map[string]string{"restart.max": "1"},
	}.source(t)
	loaded, err := Load(source)
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(source.HomeDir, "settings.json")
	got := map[string]string{}
	for key, origin := range loaded.Origins {
		got[key] = origin.String()
	}
	want := map[string]string{
		"context":           home + ":1",
		"maximumIterations": ".ralph/settings.local.json:1",
		"agents.pi.model":   ".ralph/settings.json:5",
		"agents.pi.env":     ".ralph/settings.json:4",
		"agents.pi.env.A":   ".ralph/settings.json:4",
		"guardrails":        ".ralph/settings.local.json:1",
		"limits.idle":       "RALPH_LIMITS_IDLE",
		"restart.max":       "command line",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if diff := cmp.Diff([]string{home, ".ralph/settings.json", ".ralph/settings.local.json"}, loaded.Files); diff != "" {
		t.Error(diff)
	}
	if got := loaded.Origins["agents.pi.flags"].String(); got != "built-in" {
		t.Errorf("a key that is not set comes from %q", got)
	}
}

func TestHomeFolderIsReadOnce(t *testing.T) {
	source := layers{project: `{"context": "same"}`}.source(t)
	source.HomeDir = filepath.Join(source.ProjectDir, ".ralph")
	loaded, err := Load(source)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{".ralph/settings.json"}, loaded.Files); diff != "" {
		t.Error(diff)
	}
}

func TestUnreadableFileIsAnError(t *testing.T) {
	source := layers{}.source(t)
	path := filepath.Join(source.ProjectDir, ".ralph", "settings.json")
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := Load(source)
	if err == nil || !strings.HasSuffix(err.Error(), "settings.json is a folder") {
		t.Errorf("a directory in its place: %v", err)
	}

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, path, "{}"+strings.Repeat(" ", MaxFile))
	if _, err = Load(source); err == nil || !strings.Contains(err.Error(), "larger than 1048576 bytes") {
		t.Errorf("a file without end: %v", err)
	}
}

func BenchmarkLoad(b *testing.B) {
	source := Source{ProjectDir: b.TempDir(), Env: os.Environ(), Flags: map[string]string{"maximumIterations": "30"}}
	if err := os.Mkdir(filepath.Join(source.ProjectDir, ".ralph"), 0o700); err != nil {
		b.Fatal(err)
	}
	testfile.Write(b, filepath.Join(source.ProjectDir, ".ralph", "settings.json"), specificationExample)
	for b.Loop() {
		if _, err := Load(source); err != nil {
			b.Fatal(err)
		}
	}
}

// specificationExample is the example of the harness's specification, with a name for its agent.
const specificationExample = `{
  "maximumIterations": 10,
  "completionResponse": "DONE",
  "outputTruncateChars": 5000,
  "streamAgentOutput": true,
  "includeIterationCountInPrompt": false,
  "agent": "claude",
  "agents": {
    "claude": {
      "flags": ["--model opus", "--no-auto-compact"]
    }
  },
  "guardrails": [
    {
      "command": "make lint",
      "failAction": "APPEND",
      "hint": "Fix lint errors only. Do not change behavior."
    },
    {
      "command": "make test",
      "failAction": "APPEND"
    }
  ],
  "scm": {
    "command": "git",
    "tasks": ["commit", "push"]
  }
}
`

func TestSpecificationExampleLoads(t *testing.T) {
	loaded, err := Load(layers{project: specificationExample}.source(t))
	if err != nil {
		t.Fatal(err)
	}
	want := Defaults()
	want.Agent, want.Agents = AgentNames{"claude"}, map[string]Agent{"claude": {Flags: []string{"--model opus", "--no-auto-compact"}}}
	want.Guardrails = []Guardrail{
		{Command: "make lint", FailAction: FailAppend, Hint: "Fix lint errors only. Do not change behavior."},
		{Command: "make test", FailAction: FailAppend},
	}
	want.SCM = SCM{Command: "git", Tasks: []string{"commit", "push"}, Draft: true}
	if diff := cmp.Diff(want, loaded.Settings); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
