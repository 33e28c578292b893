package config

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

const heldOut = `{"guardrails": [{"command": "make test"}, {"command": "sh held.sh", "heldOut": true, "requirement": "it is fast"}]}`

// Held-out guardrails of the person's own settings are apart from all others, whatever the project
// sets, so that nothing that is made of the settings has them.
func TestHeldOutGuardrailsAreApart(t *testing.T) {
	for name, given := range map[string]layers{
		"the person's alone":     {home: heldOut},
		"with those of projects": {home: heldOut, project: `{"guardrails": [{"command": "make lint"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			loaded, err := Load(given.source(t))
			if err != nil {
				t.Fatal(err)
			}
			if len(loaded.HeldOut) != 1 || loaded.HeldOut[0].Command != "sh held.sh" || loaded.HeldOut[0].Requirement != "it is fast" {
				t.Errorf("held out are %+v", loaded.HeldOut)
			}
			frozen, err := Freeze(loaded.Settings, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(loaded.Settings.Guardrails) != 1 || strings.Contains(string(frozen), "held.sh") {
				t.Errorf("the settings have %+v", loaded.Settings.Guardrails)
			}
		})
	}
}

// Where an agent can read it, a guardrail is not held out.
func TestHeldOutElsewhereIsRefused(t *testing.T) {
	for name, row := range map[string]struct {
		layers layers
		where  string
	}{
		"the project": {layers{project: heldOut}, filepath.FromSlash(".ralph/settings.json") + ":1"},
		"local":       {layers{local: heldOut}, filepath.FromSlash(".ralph/settings.local.json") + ":1"},
		"a variable":  {layers{env: []string{`RALPH_GUARDRAILS=[{"command": "a", "heldOut": true, "requirement": "b"}]`}}, "RALPH_GUARDRAILS"},
		"a flag":      {layers{flags: map[string]string{"guardrails": `[{"command": "a", "heldOut": true, "requirement": "b"}]`}}, "command line"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(row.layers.source(t))
			bad, ok := errors.AsType[*Error](err)
			if !ok || !strings.HasPrefix(bad.Error(), row.where) || !strings.Contains(bad.Hint(), "ralph holdout add") {
				t.Errorf("the error is %v", err)
			}
		})
	}
	if _, _, err := Thaw([]byte(heldOut)); err == nil {
		t.Error("a copy of the settings in the loop's folder has a held-out guardrail")
	}
}

// A held-out guardrail says what has to hold, and nothing else to the agent.
func TestHeldOutNeedsRequirement(t *testing.T) {
	for _, given := range []string{
		`{"command": "a", "heldOut": true}`,
		`{"command": "a", "requirement": "b"}`,
		`{"command": "a", "heldOut": true, "requirement": "b", "hint": "c"}`,
		`{"command": "a", "heldOut": true, "requirement": "b", "protect": true}`,
	} {
		if _, err := Load(layers{home: `{"guardrails": [` + given + `]}`}.source(t)); err == nil {
			t.Errorf("%s is no error", given)
		}
	}
}
