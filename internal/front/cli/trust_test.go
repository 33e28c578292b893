package cli

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/effect/plan"
)

// A variable of an agent that is named like a credential is masked in every key, and so is a header
// for the collector; everything else is shown.
func TestKeysOfAgentsAreMasked(t *testing.T) {
	for _, tt := range []struct{ key, value, want string }{
		{"agents.a.env.MY_TOKEN", "abc", "[masked:MY_TOKEN]"},
		{"agents.a.env.PLAIN", "abc", "abc"},
		{"telemetry.otlp.headers.authorization", "Bearer abc", "[masked:authorization]"},
		{"agents.my-token.command", "abc", "abc"},
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
