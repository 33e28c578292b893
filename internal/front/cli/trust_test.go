package cli

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/effect/plan"
)

// A variable of an agent that is named like a credential is masked in every key, and so is a header
// for the collector; everything else is shown.
func TestKeysOfAgentsAreMasked(t *testing.T) {
	for _, tt := range []struct{ key, value, want string }{
		{"agent.env.MY_TOKEN", "abc", "[masked:MY_TOKEN]"},
		{"agent.env.PLAIN", "abc", "abc"},
		{"telemetry.otlp.headers.authorization", "Bearer abc", "[masked:authorization]"},
		{"agents[1]", `{"command":"x","env":{"A":"b","MY_TOKEN":"abc"}}`, `{"command":"x","env":{"A":"b","MY_TOKEN":"[masked:MY_TOKEN]"}}`},
		{"agents", `[{"command":"x","env":{"MY_TOKEN":"abc"}},{"command":"abc"}]`, `[{"command":"x","env":{"MY_TOKEN":"[masked:MY_TOKEN]"}},{"command":"abc"}]`},
		{"agents", "[]", "[]"},
		{"agents[0]", "{", "{"},
		{"guardrails[0]", `{"command":"abc"}`, `{"command":"abc"}`},
	} {
		if got := WithoutKeys(tt.key, tt.value); got != tt.want {
			t.Errorf("%s is shown as %s", tt.key, got)
		}
	}
}

// The record of the verifyCommands is about the file that a plan has them in.
func TestPlanFileName(t *testing.T) {
	e := &Env{Cwd: t.TempDir()}
	if of, want := e.ReviewCommands(nil).Of, plan.Path(e.Root(), plan.Tasks); of != want {
		t.Errorf("it is %s, and a plan has %s", of, want)
	}
}
