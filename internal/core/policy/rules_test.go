package policy_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestSetRuleChangesLiveSettings(t *testing.T) {
	before := event.Rules{
		MaximumIterations: 1,
		Completion:        event.CompletionRules{Promise: "X"},
		Limits:            event.LimitRules{Cost: 2, Tokens: 3, Duration: event.Duration(4 * time.Millisecond), Idle: event.Duration(5 * time.Millisecond), Iteration: event.Duration(6 * time.Millisecond), ExitGrace: event.Duration(7 * time.Millisecond)},
		Restart:           event.RestartRules{Max: 8, Delay: event.Duration(9 * time.Millisecond)},
	}
	for _, row := range []struct {
		key, value string
		change     func(*event.Rules)
	}{
		{"maximumIterations", "30", func(r *event.Rules) { r.MaximumIterations = 30 }},
		{"restart.max", "1", func(r *event.Rules) { r.Restart.Max = 1 }},
		{"limits.cost", "12.5", func(r *event.Rules) { r.Limits.Cost = 12.5 }},
		{"limits.cost", "1e-3", func(r *event.Rules) { r.Limits.Cost = 0.001 }},
		{"limits.tokens", "5000000000", func(r *event.Rules) { r.Limits.Tokens = 5_000_000_000 }},
		{"limits.duration", "1h30m", func(r *event.Rules) { r.Limits.Duration = event.Duration(5_400_000 * time.Millisecond) }},
		{"limits.idle", "90s", func(r *event.Rules) { r.Limits.Idle = event.Duration(90_000 * time.Millisecond) }},
		{"limits.iteration", "2h", func(r *event.Rules) { r.Limits.Iteration = event.Duration(7_200_000 * time.Millisecond) }},
		{"limits.exitGrace", "1500ms", func(r *event.Rules) { r.Limits.ExitGrace = event.Duration(1500 * time.Millisecond) }},
		{"limits.tool", "30m", func(r *event.Rules) { r.Limits.Tool = event.Duration(1_800_000 * time.Millisecond) }},
		{"limits.maxOutage", "6h", func(r *event.Rules) { r.Limits.MaxOutage = event.Duration(21_600_000 * time.Millisecond) }},
		{"limits.iterationCost", "0.5", func(r *event.Rules) { r.Limits.IterationCost = 0.5 }},
		{"limits.iterationTokens", "1", func(r *event.Rules) { r.Limits.IterationTokens = 1 }},
		{"restart.delay", "1ms", func(r *event.Rules) { r.Restart.Delay = event.Duration(1 * time.Millisecond) }},
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

// The inbox may contain any value; an accepted one has to become a line of the journal.
func TestSetRuleRefusesBadValues(t *testing.T) {
	numbers := []string{"", " ", "x", "0", "-1", "1.5", "1e3", "99999999999999999999", "0x10", "+", "1 ", "NaN", "Inf"}
	spans := []string{"", "x", "0", "10", "-5s", "0s", "999us", "1d", "5 m", "Inf", "9999999999h"}
	for key, values := range map[string][]string{
		"maximumIterations": numbers, "restart.max": numbers, "limits.tokens": numbers,
		"limits.cost":     {"", "x", "0", "-1", "NaN", "nan", "Inf", "+Inf", "-Inf", "infinity", "1e999", "$5", "5 USD"},
		"limits.duration": spans, "limits.idle": spans, "limits.iteration": spans, "limits.exitGrace": spans, "restart.delay": spans,
		"limits.tool": spans, "limits.maxOutage": spans, "limits.iterationTokens": numbers,
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

func TestSetRuleRefusesFixedSettings(t *testing.T) {
	for _, key := range []string{"", "completion.promise", "MaximumIterations", "agent", "limits", "limits.cost "} {
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

func TestSetRuleRemovesLimit(t *testing.T) {
	had := event.Rules{MaximumIterations: 3, Limits: event.LimitRules{Cost: 1, Tokens: 2, Duration: event.Duration(3 * time.Millisecond), Idle: event.Duration(4 * time.Millisecond), Iteration: event.Duration(5 * time.Millisecond), ExitGrace: event.Duration(6 * time.Millisecond), Tool: event.Duration(7 * time.Millisecond), MaxOutage: event.Duration(8 * time.Millisecond), IterationCost: 9, IterationTokens: 10}}
	for _, key := range []string{"limits.tool", "limits.maxOutage", "limits.iterationCost", "limits.iterationTokens", "limits.cost", "limits.tokens", "limits.duration", "limits.idle", "limits.iteration", "limits.exitGrace"} {
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
