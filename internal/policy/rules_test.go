package policy_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestWhatMayBeSetWhileALoopRuns(t *testing.T) {
	before := event.Rules{
		MaximumIterations: 1, CompletionPromise: "X", LimitCost: 2, LimitTokens: 3, LimitDuration: 4,
		IdleAfter: 5, IterationLimit: 6, AfterResult: 7, RestartMax: 8, RestartDelay: 9,
	}
	for _, row := range []struct {
		key, value string
		change     func(*event.Rules)
	}{
		{"maximumIterations", "30", func(r *event.Rules) { r.MaximumIterations = 30 }},
		{"restart.max", "1", func(r *event.Rules) { r.RestartMax = 1 }},
		{"limits.cost", "12.5", func(r *event.Rules) { r.LimitCost = 12.5 }},
		{"limits.cost", "1e-3", func(r *event.Rules) { r.LimitCost = 0.001 }},
		{"limits.tokens", "5000000000", func(r *event.Rules) { r.LimitTokens = 5_000_000_000 }},
		{"limits.duration", "1h30m", func(r *event.Rules) { r.LimitDuration = 5_400_000 }},
		{"limits.idle", "90s", func(r *event.Rules) { r.IdleAfter = 90_000 }},
		{"limits.iteration", "2h", func(r *event.Rules) { r.IterationLimit = 7_200_000 }},
		{"limits.afterResult", "1500ms", func(r *event.Rules) { r.AfterResult = 1500 }},
		{"limits.tool", "30m", func(r *event.Rules) { r.ToolIdleAfter = 1_800_000 }},
		{"limits.outage", "6h", func(r *event.Rules) { r.OutageLimit = 21_600_000 }},
		{"limits.iterationCost", "0.5", func(r *event.Rules) { r.IterationCost = 0.5 }},
		{"limits.iterationTokens", "1", func(r *event.Rules) { r.IterationTokens = 1 }},
		{"restart.delay", "1ms", func(r *event.Rules) { r.RestartDelay = 1 }},
	} {
		t.Run(row.key+" "+row.value, func(t *testing.T) {
			want := before
			row.change(&want)
			got, err := policy.SetRule(before, row.key, row.value)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if _, err := json.Marshal(got); err != nil {
				t.Error(err)
			}
		})
	}
}

// What comes in through the inbox is anything at all, and what is accepted has to become a line.
func TestWhatMayNotBeSet(t *testing.T) {
	numbers := []string{"", " ", "x", "0", "-1", "1.5", "1e3", "99999999999999999999", "0x10", "+", "1 ", "NaN", "Inf"}
	spans := []string{"", "x", "0", "10", "-5s", "0s", "999us", "1d", "5 m", "Inf", "9999999999h"}
	for key, values := range map[string][]string{
		"maximumIterations": numbers, "restart.max": numbers, "limits.tokens": numbers,
		"limits.cost":     {"", "x", "0", "-1", "NaN", "nan", "Inf", "+Inf", "-Inf", "infinity", "1e999", "$5", "5 USD"},
		"limits.duration": spans, "limits.idle": spans, "limits.iteration": spans, "limits.afterResult": spans, "restart.delay": spans,
		"limits.tool": spans, "limits.outage": spans, "limits.iterationTokens": numbers,
		"limits.iterationCost": {"x", "0", "-1", "NaN"},
	} {
		for _, value := range values {
			_, err := policy.SetRule(event.Rules{}, key, value)
			if err == nil || !strings.Contains(err.Error(), `"`+value+`"`) {
				t.Errorf("%s may be %q: %v", key, value, err)
			}
		}
	}
}

func TestWhatCannotBeChangedIsSaidSo(t *testing.T) {
	for _, key := range []string{"", "completion.promise", "MaximumIterations", "agent.command", "limits", "limits.cost "} {
		r, err := policy.SetRule(event.Rules{MaximumIterations: 3}, key, "1")
		if err == nil || !strings.Contains(err.Error(), "cannot be changed while the loop runs") || r.MaximumIterations != 3 {
			t.Errorf("%q: %+v, %v", key, r, err)
		}
	}
}

func FuzzSetRule(f *testing.F) {
	f.Add("limits.cost", "1e308")
	f.Add("limits.duration", "2562047h")
	f.Add("maximumIterations", "7")
	f.Fuzz(func(t *testing.T, key, value string) {
		r, err := policy.SetRule(event.Rules{MaximumIterations: 1}, key, value)
		if err != nil {
			return
		}
		// Each accepted change is recorded with all rules.
		data := event.Encode(event.LoopConfigured{Key: key, Value: value, Rules: r}, "loop").Data
		var again event.LoopConfigured
		if err := json.Unmarshal(data, &again); err != nil || !cmp.Equal(again.Rules, r) {
			t.Errorf("%s: %v", data, err)
		}
	})
}

func TestALimitCanBeTakenAway(t *testing.T) {
	had := event.Rules{MaximumIterations: 3, LimitCost: 1, LimitTokens: 2, LimitDuration: 3, IdleAfter: 4, IterationLimit: 5, AfterResult: 6, ToolIdleAfter: 7, OutageLimit: 8, IterationCost: 9, IterationTokens: 10}
	for _, key := range []string{"limits.tool", "limits.outage", "limits.iterationCost", "limits.iterationTokens", "limits.cost", "limits.tokens", "limits.duration", "limits.idle", "limits.iteration", "limits.afterResult"} {
		var err error
		if had, err = policy.SetRule(had, key, "none"); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	if want := (event.Rules{MaximumIterations: 3}); !cmp.Equal(had, want) {
		t.Errorf("left are %+v", had)
	}
	for _, key := range []string{"maximumIterations", "restart.max", "limits.nothing"} {
		if _, err := policy.SetRule(had, key, "none"); err == nil {
			t.Errorf("%s was taken away", key)
		}
	}
	if _, err := policy.SetRule(had, "maximumIterations", "none"); err == nil || !strings.Contains(err.Error(), "whole number") {
		t.Errorf("maximumIterations: %v", err)
	}
	if _, err := policy.SetRule(had, "limits.nothing", "none"); err == nil || !strings.Contains(err.Error(), `there is no "limits.nothing"`) {
		t.Errorf("limits.nothing: %v", err)
	}
}
