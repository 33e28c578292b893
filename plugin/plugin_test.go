package plugin

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The repository is a marketplace too.
func TestRootHasMarketplaces(t *testing.T) {
	for name, want := range Marketplaces() {
		if got, err := os.ReadFile(filepath.Join("..", name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from the file in marketplaces: %v", name, err)
		}
	}
}

func TestManifestsAgree(t *testing.T) {
	var versions []string
	for _, name := range []string{"plugin.json", ".claude-plugin/plugin.json", ".codex-plugin/plugin.json"} {
		text, err := fs.ReadFile(Files(), name)
		if err != nil {
			t.Fatal(err)
		}
		var manifest struct{ Name, Version, Description string }
		if err := json.Unmarshal(text, &manifest); err != nil || manifest.Name != "ralph" {
			t.Errorf("%s: %+v, %v", name, manifest, err)
		}
		versions = append(versions, manifest.Version+manifest.Description)
	}
	if len(slices.Compact(versions)) != 1 {
		t.Errorf("%q", versions)
	}
}

// The plugin has the version of the program, which the newest part of the changelog names.
func TestVersionIsThatOfRalph(t *testing.T) {
	changelog, err := os.ReadFile(filepath.Join("..", "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	newest := regexp.MustCompile(`(?m)^## .*?(\d+\.\d+\.\d+)`).FindSubmatch(changelog)
	if newest == nil {
		t.Fatal("the changelog names no version")
	}
	for _, name := range []string{"plugin.json", ".claude-plugin/plugin.json", ".codex-plugin/plugin.json", "pi/package.json"} {
		text, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(text, []byte(`"version": "`+string(newest[1])+`"`)) {
			t.Errorf("%s is not of version %s: %v", name, newest[1], err)
		}
	}
}

// A client that keeps to the standard reads no server without the schema and a type.
func TestServersKeepStandard(t *testing.T) {
	text, err := fs.ReadFile(Files(), "mcp.json")
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]any
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	const schema = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json"
	server, _ := file["mcpServers"].(map[string]any)["ralph"].(map[string]any)
	if file["$schema"] != schema || len(file) != 2 || server["type"] != "stdio" || server["command"] != "ralph" {
		t.Errorf("%s", text)
	}
}

// A strict client skips a skill with a key that the standard does not have.
func TestSkillsKeepStandard(t *testing.T) {
	keepStandard(t, Files(), 5)
	keepStandard(t, Pi(), 1)
}

func keepStandard(t *testing.T, files fs.FS, count int) {
	t.Helper()
	skills, err := fs.Glob(files, "skills/*/SKILL.md")
	if err != nil || len(skills) != count {
		t.Fatalf("%q, %v", skills, err)
	}
	for _, name := range skills {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(strings.TrimPrefix(string(text), "---\n"), "\n---\n")
		for line := range strings.Lines(head) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
			if !strings.HasPrefix(line, " ") && !slices.Contains([]string{"name", "description", "license", "compatibility", "metadata", "allowed-tools"}, key) {
				t.Errorf("%s has the key %q", name, key)
			}
			if key == "name" && strings.TrimSpace(value) != filepath.Base(filepath.Dir(name)) {
				t.Errorf("%s has the name %q", name, value)
			}
		}
	}
}
