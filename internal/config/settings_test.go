package config

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestDefaultsAreTheDesignsTable spells the defaults out once more, as text, so that neither side changes alone.
func TestDefaultsAreTheDesignsTable(t *testing.T) {
	want := map[string]string{
		"maximumIterations":             "10",
		"completionResponse":            "DONE",
		"completion.promise":            "COMPLETE",
		"completion.match":              "final",
		"completion.minToolCalls":       "1",
		"completion.onPromiseNoWork":    "reject",
		"completion.checklist":          "true",
		"completion.doneFile":           "true",
		"context":                       "fresh",
		"agent.command":                 "",
		"agent.flags":                   "[]",
		"agent.permissions":             "",
		"agent.extensions":              "[]",
		"agent.skills":                  "[]",
		"agent.session":                 "",
		"agent.sessionDir":              "",
		"agent.protocol":                "",
		"agent.model":                   "",
		"agent.provider":                "",
		"agent.thinking":                "",
		"agent.env":                     "{}",
		"agent.outlive":                 "false",
		"agent.passKeys":                "auto",
		"agents":                        "[]",
		"guardrails":                    "[]",
		"outputTruncateChars":           "5000",
		"share":                         "false",
		"streamAgentOutput":             "true",
		"includeIterationCountInPrompt": "false",
		"scm.command":                   "",
		"scm.tasks":                     "[]",
		"limits.cost":                   "none",
		"limits.tokens":                 "none",
		"limits.duration":               "none",
		"limits.idle":                   "10m",
		"limits.iteration":              "2h",
		"limits.afterResult":            "30s",
		"restart.max":                   "100",
		"restart.delay":                 "1s",
		"restart.childWait":             "5m",
		"restart.waitExitCode":          "42",
		"breaker.noProgress":            "5",
		"breaker.sameError":             "3",
		"reflect.every":                 "0",
		"review.enabled":                "false",
		"review.cap":                    "5",
		"sandbox.mode":                  "none",
		"worktree":                      "",
		"journal.syncEvery":             "1s",
		"journal.keepIterations":        "0",
		"journal.compress":              "true",
		"journal.raw":                   "true",
		"notify":                        "[]",

		// Beyond the design: docs/decisions/0017-settings-beyond-the-design.md.
		"breaker.environment":    "3",
		"completion.busFile":     "",
		"limits.iterationCost":   "none",
		"limits.iterationTokens": "none",
		"limits.outage":          "6h",
		"limits.tool":            "1h",
		"scm.addNew":             "false",
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

func TestTasksModeHasItsOwnDefaults(t *testing.T) {
	want := Defaults()
	want.MaximumIterations, want.Review.Enabled = 15, true
	if diff := cmp.Diff(want, TasksDefaults()); diff != "" {
		t.Error(diff)
	}
}

func TestEveryKeyHasAMeaningAndAVariableOfItsOwn(t *testing.T) {
	seen := map[string]string{}
	for _, key := range Keys() {
		if key.Doc == "" {
			t.Errorf("%s has no doc tag", key.Name)
		}
		if key.Env == "" {
			if !strings.Contains(key.Name, "[]") {
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
		"RALPH_LIMITS_AFTER_RESULT":           "limits.afterResult",
		"RALPH_AGENT_COMMAND":                 "agent.command",
		"RALPH_COMPLETION_ON_PROMISE_NO_WORK": "completion.onPromiseNoWork",
		"RALPH_SCM_TASKS":                     "scm.tasks",
	} {
		if seen[variable] != name {
			t.Errorf("%s sets %q, want %q", variable, seen[variable], name)
		}
	}
}

// TestTagsAreReadWhole holds the one-pass reading of tags against reflect's own.
func TestTagsAreReadWhole(t *testing.T) {
	fields := 0
	var walk func(*object)
	walk = func(o *object) {
		for _, f := range o.fields {
			fields++
			name, options, _ := strings.Cut(f.tag.Get("json"), ",")
			enum := strings.Join(f.enum, ",")
			if name != f.name || (options != "") != f.optional || enum != f.tag.Get("enum") || (f.tag.Get("required") != "") != f.required ||
				(f.tag.Get("none") != "") != f.none || (f.tag.Get("live") != "") != f.live ||
				f.min != boundOr(f.tag.Get("min"), 0) || f.max != boundOr(f.tag.Get("max"), math.Inf(1)) {
				t.Errorf("%s: %s was read as %+v", f.key, f.tag, f)
			}
			if f.object != nil {
				walk(f.object)
			}
		}
	}
	walk(table())
	if fields < 70 {
		t.Errorf("only %d fields", fields)
	}
}

func boundOr(value string, otherwise float64) float64 {
	if value == "" {
		return otherwise
	}
	return bound(value)
}

func TestLiveKeys(t *testing.T) {
	want := []string{
		"limits.afterResult", "limits.cost", "limits.duration", "limits.idle", "limits.iteration", "limits.iterationCost",
		"limits.iterationTokens", "limits.outage", "limits.tokens", "limits.tool", "maximumIterations", "restart.delay", "restart.max",
	}
	if diff := cmp.Diff(want, slices.Sorted(slices.Values(LiveKeys()))); diff != "" {
		t.Error(diff)
	}
}

func TestDurationsPrintAsPeopleWriteThem(t *testing.T) {
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
		if back, err := ParseDuration(got); err != nil || back.Std() != duration {
			t.Errorf("%q reads as %v, %v", got, back, err)
		}
	}
}

func TestCandidatesAreTheListOrElseTheOneAgent(t *testing.T) {
	claude, pi := Agent{Command: "claude"}, Agent{Command: "pi"}
	for name, row := range map[string]struct {
		settings Settings
		want     []Agent
	}{
		"no agent at all":    {Settings{}, nil},
		"one agent":          {Settings{Agent: claude}, []Agent{claude}},
		"a list of agents":   {Settings{Agents: []Agent{pi, claude}}, []Agent{pi, claude}},
		"only its model set": {Settings{Agent: Agent{Model: "opus"}}, nil},
	} {
		if diff := cmp.Diff(row.want, row.settings.Candidates()); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}
