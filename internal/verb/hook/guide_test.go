package hook

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/testkit/testfile"
)

// The settings on the page and of the plugin are JSON, register each hook once, and name the events
// as the code does.
func TestGuideSettingsAreValid(t *testing.T) {
	page := testfile.Read(t, filepath.Join("..", "..", "..", "docs", "guide", "hooks.md"))
	ofPlugin := testfile.Read(t, filepath.Join("..", "..", "..", "plugin", "hooks", "hooks.json"))
	for _, agent := range []string{"claude", "codex", "plugin"} {
		found := regexp.MustCompile("(?s)```json " + agent + "\n(.*?)```").FindSubmatch(page)
		if agent == "plugin" {
			found = [][]byte{nil, ofPlugin}
		}
		if found == nil {
			t.Fatalf("no settings for %s", agent)
		}
		var settings struct {
			Hooks map[string][]struct {
				Matcher *string
				Hooks   []struct {
					Type, Command string
					Timeout       int
				}
			}
		}
		decoder := json.NewDecoder(strings.NewReader(string(found[1])))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&settings); err != nil {
			t.Fatalf("%s: %v", agent, err)
		}
		if len(settings.Hooks) != len(answerers) {
			t.Errorf("%s: %d hooks", agent, len(settings.Hooks))
		}
		for kind := range answerers {
			entries := settings.Hooks[kind.event()]
			if len(entries) != 1 || len(entries[0].Hooks) != 1 {
				t.Errorf("%s: %s is there %d times", agent, kind, len(entries))
				continue
			}
			if h := entries[0].Hooks[0]; h.Type != "command" || h.Command != "ralph hook "+string(kind) || h.Timeout < 5 {
				t.Errorf("%s: %s is %+v", agent, kind, h)
			}
			if m := entries[0].Matcher; m != nil {
				if _, err := regexp.Compile(strings.ReplaceAll(*m, "*", ".*")); err != nil {
					t.Errorf("%s: %s: %v", agent, kind, err)
				}
			}
		}
	}
}
