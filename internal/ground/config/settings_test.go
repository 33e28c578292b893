package config

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/journal/event"
)

// TestDefaults repeats the defaults as text, so that neither changes alone.
func TestDefaults(t *testing.T) {
	want := map[string]string{
		"maximumIterations":             "10",
		"terminal.title":                "true",
		"terminal.progress":             "true",
		"terminal.status":               "true",
		"terminal.notify":               "true",
		"completionResponse":            "DONE",
		"completion.promise":            "COMPLETE",
		"completion.match":              "final",
		"completion.minToolCalls":       "1",
		"completion.onPromiseNoWork":    "reject",
		"completion.checklist":          "true",
		"completion.doneFile":           "true",
		"context":                       "fresh",
		"agent":                         "",
		"agents":                        "{}",
		"guardrails":                    "[]",
		"outputTruncateChars":           "5000",
		"allowSharedWorktree":           "false",
		"streamAgentOutput":             "true",
		"includeIterationCountInPrompt": "false",
		"scm.command":                   "",
		"scm.tasks":                     "[]",
		"scm.draft":                     "true",
		"scm.followPR":                  "false",
		"scm.followOwn":                 "false",
		"limits.cost":                   "none",
		"limits.tokens":                 "none",
		"limits.duration":               "none",
		"limits.idle":                   "10m",
		"limits.iteration":              "2h",
		"limits.exitGrace":              "30s",
		"restart.max":                   "100",
		"restart.delay":                 "1s",
		"restart.childWait":             "5m",
		"restart.waitExitCode":          "42",
		"breaker.noProgress":            "5",
		"breaker.sameError":             "3",
		"reflect.every":                 "0",
		"journal.syncEvery":             "1s",
		"nesting.depth":                 "1",
		"nesting.loops":                 "16",
		"notify":                        "[]",
		"snapshots.keep":                "50",
		"keepAwake":                     "false",
		"limits.window":                 "{}",
		"sandbox.mode":                  "none",
		"sandbox.network":               "open",
		"sandbox.hosts":                 "[]",
		"sandbox.write":                 "[]",
		"sandbox.read":                  "[]",
		"sandbox.hide":                  "[]",
		"sandbox.image":                 "",
		"sandbox.memory":                "",
		"sandbox.cpus":                  "",
		"sandbox.pass":                  "[]",
		"worktree.copy":                 "[]",
		"worktree.setup":                "",
		"journal.keepIterations":        "0",
		"journal.compress":              "true",
		"journal.raw":                   "true",

		// Beyond the design: docs/decisions/0017-settings-beyond-the-design.md.
		"breaker.environment":        "3",
		"completion.require":         "any",
		"completion.holdoutRefusals": "3",
		"limits.diff":                "none",
		"prove.auto":                 "end",
		"prove.time":                 "10m",
		"prove.mutants":              "20",
		"prove.strong":               "70",
		"review.agent":               "",
		"review.cap":                 "5",
		"review.mayEdit":             "false",
		"review.skip":                "false",
		"review.vote":                "all",
		"completion.appendTo":        "",
		"limits.iterationCost":       "none",
		"limits.iterationTokens":     "none",
		"limits.maxOutage":           "6h",
		"limits.tool":                "1h",
		"scm.addUntracked":           "false",
		"guard.allow":                "[]",
		"guard.deny":                 "[]",
		"guard.hooks":                "true",
		"guard.off":                  "[]",
		"guard.sessions":             "false",
		"telemetry.otlp.content":     "false",
		"telemetry.otlp.endpoint":    "",
		"telemetry.otlp.headers":     "{}",
		"guard.unknown":              "ask",
		"hosts":                      "[]",
	}
	got := map[string]string{}
	for _, key := range Keys() {
		if key.Env != "" && key.Kind != KindObject {
			got[key.Name] = key.Default
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("defaults differ from the design (-design +built-in):\n%s", diff)
	}
	if err := Validate(Defaults()); err != nil {
		t.Errorf("the defaults are not valid: %v", err)
	}
}

func TestKeysHaveDocAndVariable(t *testing.T) {
	seen := map[string]string{}
	for _, key := range Keys() {
		if key.Doc == "" {
			t.Errorf("%s has no doc tag", key.Name)
		}
		if key.Env == "" {
			if !strings.Contains(key.Name, "[]") && !strings.HasPrefix(key.Name, anyAgent+".") {
				t.Errorf("%s has no variable", key.Name)
			}
			continue
		}
		if other, taken := seen[key.Env]; taken {
			t.Errorf("%s and %s are both %s", key.Name, other, key.Env)
		}
		if slices.Contains(reserved[:], key.Env) {
			t.Errorf("%s is %s, which is reserved", key.Name, key.Env)
		}
		seen[key.Env] = key.Name
	}
	for variable, name := range map[string]string{
		"RALPH_MAXIMUM_ITERATIONS":            "maximumIterations",
		"RALPH_LIMITS_EXIT_GRACE":             "limits.exitGrace",
		"RALPH_REVIEW_AGENT":                  "review.agent",
		"RALPH_COMPLETION_ON_PROMISE_NO_WORK": "completion.onPromiseNoWork",
		"RALPH_SCM_TASKS":                     "scm.tasks",
	} {
		if seen[variable] != name {
			t.Errorf("%s sets %q, want %q", variable, seen[variable], name)
		}
	}
}

// tagOf returns the tag that a field was compiled from.
func tagOf(f *field) string {
	owner := reflect.TypeFor[Settings]()
	if f.parent == anyAgent {
		owner = reflect.TypeFor[Agent]()
	}
	if list, _, in := strings.Cut(f.parent, "[]"); in {
		for _, f := range table() {
			if f.Name == list {
				owner = owner.FieldByIndex(f.index).Type.Elem()
			}
		}
	}
	return string(owner.FieldByIndex(f.index).Tag)
}

// A misspelt name in a tag would have no effect.
func TestTagNames(t *testing.T) {
	names := regexp.MustCompile(`([a-z]+):"[^"]*"`)
	known := []string{"json", "doc", "enum", "min", "max", "required", "none", "live", "trust"}
	for _, f := range table() {
		for _, m := range names.FindAllStringSubmatch(tagOf(f), -1) {
			if !slices.Contains(known, m[1]) {
				t.Errorf("%s: the tag has the unknown name %q", f.Name, m[1])
			}
		}
	}
	if len(table()) < 70 {
		t.Errorf("only %d fields", len(table()))
	}
}

func TestLiveKeys(t *testing.T) {
	want := []string{
		"limits.cost", "limits.diff", "limits.duration", "limits.exitGrace", "limits.idle", "limits.iteration", "limits.iterationCost",
		"limits.iterationTokens", "limits.maxOutage", "limits.tokens", "limits.tool", "maximumIterations", "restart.delay", "restart.max",
	}
	if diff := cmp.Diff(want, slices.Sorted(slices.Values(LiveKeys()))); diff != "" {
		t.Error(diff)
	}
}

func TestDurationText(t *testing.T) {
	for duration, want := range map[time.Duration]string{
		0:                               "0s",
		10 * time.Minute:                "10m",
		2 * time.Hour:                   "2h",
		time.Hour + 30*time.Minute:      "1h30m",
		10*time.Hour + 20*time.Second:   "10h0m20s",
		30 * time.Second:                "30s",
		10*time.Minute + 30*time.Second: "10m30s",
		1500 * time.Millisecond:         "1.5s",
		500 * time.Microsecond:          "500µs",
		100*time.Hour + time.Minute:     "100h1m",
		time.Duration(1<<63 - 1):        "2562047h47m16.854775807s",
		20 * time.Hour:                  "20h",
		time.Hour + 10*time.Minute + 10*time.Second: "1h10m10s",
	} {
		got := Duration(duration).String()
		if got != want {
			t.Errorf("%v prints %q, want %q", duration, got, want)
		}
		if back, err := event.ParseDuration(got); err != nil || back.Std() != duration {
			t.Errorf("%q reads as %v, %v", got, back, err)
		}
	}
}

func TestCandidates(t *testing.T) {
	agents := map[string]Agent{
		"claude": {Model: "opus", Permissions: "ask"}, "fast": {Command: "claude", Model: "haiku"},
		"codex": {Command: "./my-codex", Flags: []string{"--x"}, Permissions: "workspace"},
	}
	for name, row := range map[string]struct {
		settings Settings
		want     []Agent
	}{
		"no agent at all":         {Settings{}, nil},
		"none is named":           {Settings{Agents: agents}, nil},
		"no entry is needed":      {Settings{Agent: AgentNames{"claude"}}, []Agent{{Command: "claude"}}},
		"in the given order":      {Settings{Agent: AgentNames{"fast", "pi"}, Agents: agents}, []Agent{{Name: "fast", Command: "claude", Model: "haiku"}, {Command: "pi"}}},
		"the name is the command": {Settings{Agent: AgentNames{"claude"}, Agents: agents}, []Agent{{Name: "claude", Command: "claude", Model: "opus", Permissions: "ask"}}},
		"a command has what is set of its program": {
			Settings{Agent: AgentNames{"npx @anthropic-ai/claude-code@2 --x"}, Agents: agents},
			[]Agent{{Command: "npx @anthropic-ai/claude-code@2 --x", Model: "opus", Permissions: "ask"}},
		},
		"and of another program its permissions": {Settings{Agent: AgentNames{"/opt/codex"}, Agents: agents}, []Agent{{Command: "/opt/codex", Permissions: "workspace"}}},
	} {
		if diff := cmp.Diff(row.want, row.settings.Candidates()); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestPullRequestNeedsAPush(t *testing.T) {
	for _, row := range []struct {
		scm       SCM
		publishes bool
		valid     bool
	}{
		{SCM{Command: "git", Tasks: []string{"commit", "push", "pr"}}, true, true},
		{SCM{Command: "/usr/bin/git -c x=y", Tasks: []string{"push origin HEAD", "pr"}}, true, true},
		{SCM{Command: "git", Tasks: []string{"commit", "pr"}}, true, false},
		{SCM{Command: "git", Tasks: []string{"pr", "push"}}, true, false},
		{SCM{Command: "git", Tasks: []string{"commit", "pr list"}}, false, true},
		{SCM{Command: "stack", Tasks: []string{"commit", "pr"}}, false, true},
	} {
		s := Defaults()
		s.Agent, s.SCM = AgentNames{"pi"}, row.scm
		if err := Validate(s); (err == nil) != row.valid || row.scm.Publishes() != row.publishes {
			t.Errorf("%+v: %v, publishes %v", row.scm, err, row.scm.Publishes())
		}
	}
}
