package config

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/journal/event"

	"github.com/google/go-cmp/cmp"
)

// full has a value at every key that is not the built-in one.
func full() Settings {
	return Settings{
		MaximumIterations: 3, CompletionResponse: "FERTIG <&>", OutputTruncateChars: 1, IncludeIterationCountInPrompt: true,
		Context: ContextSame,
		Agent:   AgentNames{"first", "npx y --acp"},
		Agents: map[string]Agent{
			"first": {
				Command: "npx x", Flags: []string{"--model opus", "a b"}, Protocol: ProtocolACP, Model: "m", Provider: "p", Thinking: "high", Permissions: "workspace",
				Session: "s", SessionDir: "d", Extensions: []string{"e"}, Skills: []string{"k"},
				Env: map[string]string{"API_KEY": "secret", "EMPTY": ""}, PassKeys: "true",
			},
			"second": {Command: "claude", Model: "opus"},
		},
		Guardrails: []Guardrail{{Command: "make lint && make test", FailAction: FailReplace, Hint: "h", Timeout: hour, Independent: true}},
		SCM:        SCM{Command: "git", Tasks: []string{"commit"}},
		Completion: Completion{Promise: "YES", Match: "anywhere", OnPromiseNoWork: "warn", Require: "proved", HoldoutRefusals: 2},
		Limits:     Limits{Cost: 0.1, Tokens: 1 << 40, Duration: hour},
		Restart:    Restart{},
		Breaker:    Breaker{NoProgress: 1},
		Prove:      Prove{Auto: "claim", Time: second, Strong: 50},
		Reflect:    Reflect{Every: 2},
		Guard:      Guard{Unknown: "deny", Allow: []string{"a b"}, Deny: []string{"c"}, Off: []string{"cloud"}, Sessions: true},
		Sandbox:    Sandbox{Mode: "podman", Network: "listed", Hosts: []string{"a.example"}, Write: []string{"~/w"}, Read: []string{"~/r"}, Hide: []string{"h"}, Image: "i", Memory: "4g", CPUs: "2", Pass: []string{"P"}},
		Review:     Review{ReviewRules: event.ReviewRules{Skip: true, Cap: 2, Vote: VoteMajority, MayEdit: true}, Agent: AgentNames{"second"}},
		Journal:    Journal{KeepIterations: 2},
	}
}

func TestFrozenSettingsThawUnchanged(t *testing.T) {
	single := full()
	single.Agent = single.Agent[:1]
	for name, s := range map[string]Settings{
		"the defaults":            Defaults(),
		"every key changed":       full(),
		"one agent, all its keys": single,
	} {
		t.Run(name, func(t *testing.T) {
			frozen, err := Freeze(s, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := Thaw(frozen)
			if err != nil {
				t.Fatalf("%v in\n%s", err, frozen)
			}
			if diff := cmp.Diff(s, got); diff != "" {
				t.Errorf("-frozen +thawed\n%s", diff)
			}
			if err := Validate(got); err != nil {
				t.Errorf("not valid: %v", err)
			}
			var plain Settings
			if err := json.Unmarshal(frozen, &plain); err != nil {
				t.Fatalf("another JSON reader: %v", err)
			}
			if diff := cmp.Diff(s, plain); diff != "" {
				t.Errorf("another JSON reader sees (-frozen +read)\n%s", diff)
			}
		})
	}
}

func TestFrozenFileIsReadable(t *testing.T) {
	frozen, err := Freeze(full(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\"make lint && make test\"", "\n  \"maximumIterations\": 3,\n", "\"timeout\": \"1h\"", "}\n"} {
		if !strings.Contains(string(frozen), want) {
			t.Errorf("%q is not in\n%s", want, frozen)
		}
	}
}

func TestThawFillsMissingKeys(t *testing.T) {
	got, _, err := Thaw([]byte(`{"maximumIterations": 3}`))
	if err != nil {
		t.Fatal(err)
	}
	want := Defaults()
	want.MaximumIterations = 3
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestThawRejectsUnknownKeys(t *testing.T) {
	_, _, err := Thaw([]byte("{\n\"breaker\": {\"sameFault\": 1}}"))
	bad, ok := errors.AsType[*Error](err)
	if !ok || bad.Error() != `config.json:2: unknown key "breaker.sameFault"` {
		t.Errorf("got %v", err)
	}
}

func TestTextParsesAsFlag(t *testing.T) {
	s := full()
	copied := Defaults()
	for _, key := range Keys() {
		if key.Env == "" || key.Kind == KindObject {
			continue
		}
		said, ok := Text(s, key.Name)
		if !ok {
			t.Errorf("%s is unknown", key.Name)
		}
		if err := set(&copied, key.Name, said, func(string, int) {}); err != nil {
			t.Errorf("%s=%s: %v", key.Name, said, err)
		}
	}
	if diff := cmp.Diff(s, copied); diff != "" {
		t.Errorf("settings that were set again, key by key (-set +read):\n%s", diff)
	}
	for _, key := range Changed(s) {
		said, ok := Text(s, key)
		var seen []string
		if err := set(&copied, key, said, func(key string, _ int) { seen = append(seen, key) }); err != nil || !ok || seen[0] != key {
			t.Errorf("%s=%s: %v, sets %q", key, said, err, seen)
		}
	}
	if diff := cmp.Diff(s, copied); diff != "" {
		t.Errorf("and with each key of the agents (-set +read):\n%s", diff)
	}
	if got, ok := Text(s, "agents.first.env.API_KEY"); got != "secret" || !ok {
		t.Errorf("one variable of the agent: %q, %v", got, ok)
	}
	if _, ok := Text(s, "agents.first.envy"); ok {
		t.Error("an unknown key has a text")
	}
}

func TestValidate(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*Settings)
		want   string
	}{
		"no iterations":               {func(s *Settings) { s.MaximumIterations = 0 }, "maximumIterations: 0 is below 1"},
		"a negative limit":            {func(s *Settings) { s.Limits.Idle = -second }, `limits.idle: "-1s" is below 0`},
		"a cost that is no number":    {func(s *Settings) { s.Limits.Cost = s.Limits.Cost / zero }, "freeze settings: json: unsupported value: NaN"},
		"a word that is not allowed":  {func(s *Settings) { s.Context = "stale" }, `context: "stale" is not one of fresh, same`},
		"an empty word":               {func(s *Settings) { s.Completion.Match = "" }, `completion.match: "" is not one of final, anywhere`},
		"a guardrail without command": {func(s *Settings) { s.Guardrails = []Guardrail{{FailAction: FailAppend}} }, "guardrails[0].command: must not be empty"},
		"a guardrail without action":  {func(s *Settings) { s.Guardrails = []Guardrail{{Command: "x"}} }, `guardrails[0].failAction: "" is not one of APPEND, PREPEND, REPLACE`},
		"a variable without name":     {func(s *Settings) { s.setAgent("a", Agent{Env: map[string]string{"": "x"}}) }, `agents.a.env.: "" is no name of an environment variable`},
		"a blank command":             {func(s *Settings) { s.setAgent("a", Agent{Command: "  "}) }, "agents.a.command: is blank"},
		"a blank agent":               {func(s *Settings) { s.Agent = AgentNames{"  "} }, "agent: must not be empty"},
		"no name":                     {func(s *Settings) { s.setAgent("a b", Agent{}) }, `agents.a b: "a b" is no name of an agent`},
	} {
		t.Run(name, func(t *testing.T) {
			s := Defaults()
			row.change(&s)
			err := Validate(s)
			if _, ok := errors.AsType[*Error](err); !ok || err.Error() != row.want {
				t.Errorf("got %v, want %s", err, row.want)
			}
		})
	}
}

var zero float64

func TestFrozenFileKeepsGivenSettings(t *testing.T) {
	given := map[string]string{"limits.cost": "2.5", "agent": "pi --fast"}
	frozen, err := Freeze(Defaults(), given)
	if err != nil {
		t.Fatal(err)
	}
	s, back, err := Thaw(frozen)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(given, back); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Defaults(), s); diff != "" {
		t.Errorf("what was given became a setting: %s", diff)
	}
	if _, _, err := Thaw([]byte(`{"$given": [1]}`)); err == nil {
		t.Error("a list is read as the settings that were given")
	}
	var none Settings
	if err := decodeObject(frozen, &none, nil, func(string, int) {}); err == nil || !strings.Contains(err.Error(), givenKey) {
		t.Errorf("settings.json may have the key as well: %v", err)
	}
}
