package config

import (
	"strings"
	"testing"
)

func TestPassKeys(t *testing.T) {
	for name, row := range map[string]struct {
		json string // of agents.claude.passKeys
		text string // as a flag has it
		want Passed
	}{
		"auto":          {`"auto"`, "auto", ""},
		"none":          {`false`, "false", "false"},
		"all":           {`true`, "true", "true"},
		"one":           {`["ANTHROPIC_API_KEY"]`, "ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY"},
		"several":       {`["A_KEY", "B_KEY"]`, "A_KEY,B_KEY", "A_KEY,B_KEY"},
		"an empty list": {`[]`, "false", "false"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, err := Thaw([]byte(`{"agents": {"claude": {"passKeys": ` + row.json + `}}}`))
			if err != nil || s.Agents["claude"].PassKeys != row.want {
				t.Fatalf("%q, %v", s.Agents["claude"].PassKeys, err)
			}
			if text, _ := Text(s, "agents.claude.passKeys"); text != row.text {
				t.Errorf("as a text %q, want %q", text, row.text)
			}
			again := Defaults()
			for _, value := range []string{row.text, strings.Trim(row.json, `"`)} {
				if err := set(&again, "agents.claude.passKeys", value, func(string, int) {}); err != nil || again.Agents["claude"].PassKeys != row.want {
					t.Errorf("set to %s it is %q, %v", value, again.Agents["claude"].PassKeys, err)
				}
			}
			frozen, err := Freeze(s, nil)
			if err != nil {
				t.Fatal(err)
			}
			if thawed, _, err := Thaw(frozen); err != nil || thawed.Agents["claude"].PassKeys != row.want {
				t.Errorf("thawed to %q, %v", thawed.Agents["claude"].PassKeys, err)
			}
		})
	}
	for _, wrong := range []string{`3`, `[true]`, `["A=B"]`, `[""]`, `{}`, `null`, `"A"`} {
		if s, _, err := Thaw([]byte(`{"agents": {"claude": {"passKeys": ` + wrong + `}}}`)); err == nil {
			t.Errorf("%s became %q", wrong, s.Agents["claude"].PassKeys)
		}
	}
}
