package cli

import "testing"

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
