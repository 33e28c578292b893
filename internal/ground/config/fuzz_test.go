package config

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// FuzzDecode: no text makes the decoder panic, an error's offset is within the text, and accepted
// text is JSON that freezes and thaws to the same settings.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(specificationExample))
	f.Add([]byte(`{"limits": {"cost": 1e-300, "idle": null, "tokens": "none"}, "agents": {"a": {"env": {"A": "\ud800"}}}}`))
	archive, err := txtar.ParseFile("testdata/errors.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range archive.Files {
		f.Add(file.Data)
	}
	frozen, err := Freeze(full(), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(frozen)
	f.Fuzz(func(t *testing.T, data []byte) {
		s := Defaults()
		bad := decodeObject(data, &s, nil, func(string, int) {})
		if bad != nil {
			if bad.at < 0 || bad.at > len(data) || bad.Problem == "" {
				t.Errorf("error %q at %d of %d bytes", bad, bad.at, len(data))
			}
			return
		}
		if !json.Valid(data) {
			t.Fatalf("accepted %q, which is not JSON", data)
		}
		if checkTogether(s) != nil {
			return
		}
		if err := Validate(s); err != nil {
			t.Fatalf("decoded settings are not valid: %v", err)
		}
		frozen, err := Freeze(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		thawed, _, err := Thaw(frozen)
		if err != nil {
			t.Fatalf("thaw: %v\n%s", err, frozen)
		}
		if diff := cmp.Diff(s, thawed); diff != "" {
			t.Errorf("-frozen +thawed\n%s", diff)
		}
	})
}

// FuzzFlag: no text of a flag makes Load panic, and a refused one is an error of the command line.
func FuzzFlag(f *testing.F) {
	for _, key := range Keys() {
		f.Add(key.Name, "1")
	}
	f.Add("agents.a.env.X", "y")
	f.Add("agents.a b.model", "y")
	f.Add("agents.", "y")
	f.Add("agent.model", "y")
	f.Add("guardrails", `[{"command":"x"}]`)
	f.Add("guardrails[].command", "x")
	f.Fuzz(func(t *testing.T, key, value string) {
		loaded, err := Load(Source{Flags: map[string]string{key: value}})
		if err != nil {
			if bad, ok := errors.AsType[*Error](err); !ok || bad.File != "command line" {
				t.Errorf("%q=%q: %#v", key, value, err)
			}
			return
		}
		if err := Validate(loaded.Settings); err != nil {
			t.Errorf("%q=%q gave settings that are not valid: %v", key, value, err)
		}
	})
}
