package schema

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ralph-loop/ralph/internal/ground/config"
)

func resolved(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	published, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(published, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func check(t *testing.T, r *jsonschema.Resolved, text []byte) error {
	t.Helper()
	var instance any
	if err := json.Unmarshal(text, &instance); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return r.Validate(instance)
}

func TestSchemaAcceptsValidSettings(t *testing.T) {
	r := resolved(t)
	defaults, err := config.Freeze(config.Defaults(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"the defaults":        string(defaults),
		"nothing":             `{}`,
		"a schema's address":  `{"$schema": "x"}`,
		"no limits":           `{"limits": {"cost": null, "tokens": "none", "idle": "none", "iteration": "0s", "duration": "1h30m", "exitGrace": "1.5s"}}`,
		"an agent":            `{"agent": "pi", "agents": {"pi": {"flags": ["--x y"], "protocol": "pi", "env": {"A": "b"}, "passKeys": true}}}`,
		"one key passes":      `{"agents": {"my-pi_2": {"passKeys": ["ANTHROPIC_API_KEY"]}}}`,
		"agents":              `{"agent": ["pi", "claude --x"], "agents": {"pi": {}}, "review": {"agent": "codex"}}`,
		"no agent":            `{"agent": []}`,
		"a guardrail":         `{"guardrails": [{"command": "make", "failAction": "REPLACE", "timeout": "5m"}]}`,
		"a guardrail, short":  `{"guardrails": [{"command": "make"}]}`,
		"the largest bounds":  `{"restart": {"waitExitCode": 255}, "maximumIterations": 1000000}`,
		"the smallest bounds": `{"restart": {"waitExitCode": 0, "max": 0}, "maximumIterations": 1}`,
	} {
		if err := check(t, r, []byte(text)); err != nil {
			t.Errorf("%s: the schema refuses what Load takes: %v", name, err)
		}
		if _, _, err := config.Thaw([]byte(text)); err != nil {
			t.Errorf("%s: config refuses it: %v", name, err)
		}
	}
}

// beyond are the cases of the error goldens that a schema of single keys cannot detect.
var beyond = map[string]bool{
	"a key set twice":                     true,
	"a variable of the agent set twice":   true,
	"an exponent for a whole number":      true,
	"a number without end":                true,
	"a variable that cannot be":           true,
	"an open quote in an agent of a list": true,
	"a flag with an open quote":           true,
	"a webhook without address":           true,
	"an address of another kind":          true,
	"a command to notify without command": true,
	"tasks without a program":             true,
	"a branch that git would refuse":      true,
	"a branch that looks like an option":  true,
	"a NUL in a command":                  true,
}

func TestSchemaRejectsInvalidSettings(t *testing.T) {
	archive, err := txtar.ParseFile(filepath.Join("..", "testdata", "errors.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	r, checked := resolved(t), 0
	for _, file := range archive.Files {
		var any any
		if strings.HasSuffix(file.Name, ".golden") || json.Unmarshal(file.Data, &any) != nil {
			continue
		}
		checked++
		if err := r.Validate(any); (err == nil) != beyond[file.Name] {
			t.Errorf("%s: the schema says %v", file.Name, err)
		}
	}
	if checked < 40 {
		t.Errorf("only %d cases were checked", checked)
	}
}

func TestSchemaDescribesKeysInOrder(t *testing.T) {
	first, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	second, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Error("two calls give two schemas")
	}
	for _, key := range config.Keys() {
		doc, err := json.Marshal(key.Doc)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(first, append([]byte(`"description": `), doc...)) {
			t.Errorf("%s is not described", key.Name)
		}
	}
	if !(bytes.Index(first, []byte(`"maximumIterations"`)) < bytes.Index(first, []byte(`"agent"`))) {
		t.Error("keys are not in the order of the table")
	}
	for _, word := range []string{`"$schema": "https://json-schema.org/draft/2020-12/schema"`, `"additionalProperties": false`} {
		if !bytes.Contains(first, []byte(word)) {
			t.Errorf("%s is missing", word)
		}
	}
}
