package plugininstall

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The test binary acts as an agent if it has the name of one.
func TestMain(m *testing.M) {
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	if slices.ContainsFunc(agents, func(a agent) bool { return a.name == name }) {
		os.Exit(fakeAgent(name, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// A fakeState is what a fake agent has, in the file that FAKE_STATE names.
type fakeState struct {
	Market    string            // where the marketplace ralph-loop is
	Installed map[string]string // version by scope
	Project   string            // of the scope project
	Calls     []string          // that change something, also those that fail
	Fail      string            // the beginning of a call that fails
	Say       string            // answered in place of each list
}

func readState(path string) (s fakeState, err error) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if s.Installed == nil {
		s.Installed = map[string]string{}
	}
	return s, err
}

func (s fakeState) save(path string) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// fakeAgent is the agent's program. It knows the calls of the real one exactly; any other ends it
// with 9.
func fakeAgent(name string, args []string) int {
	path := os.Getenv("FAKE_STATE_" + name)
	s, err := readState(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 8
	}
	call := strings.Join(args, " ")
	if name == "codex" && strings.HasSuffix(call, "list --json") && s.Market != "" {
		if _, err := os.Stat(filepath.Join(s.Market, ".agents", "plugins", "marketplace.json")); err != nil {
			fmt.Fprintf(os.Stderr, "WARNING: no aliases\nError: failed to load marketplace(s):\n- `ralph-loop` at %s: no manifest\n", s.Market)
			return 1
		}
	}
	if text, ok := s.list(name, call); ok {
		fmt.Println(text)
		return 0
	}
	s.Calls = append(s.Calls, call)
	code := 7
	if s.Fail == "" || !strings.HasPrefix(call, s.Fail) {
		code = s.change(name, args)
	} else {
		fmt.Fprintln(os.Stderr, "it \x1b[31mfails\x1b[0m")
	}
	if err := s.save(path); err != nil {
		return 8
	}
	return code
}

func (s fakeState) list(name, call string) (string, bool) {
	var answer any
	entries := []map[string]any{}
	switch call {
	case "plugin list --json":
		for scope, version := range s.Installed {
			if name == "codex" {
				entries = append(entries, map[string]any{"pluginId": pluginID, "version": version, "installed": true, "enabled": true, "source": map[string]any{"path": s.Market + "/plugin"}})
				continue
			}
			entry := map[string]any{"id": pluginID, "scope": scope, "enabled": true, "version": version, "readFromFolder": s.Market + "/plugin"}
			if scope == scopeProject {
				entry["projectPath"] = s.Project
			}
			entries = append(entries, entry)
		}
		answer = append(entries, map[string]any{"id": "other@theirs", "pluginId": "other@theirs", "scope": "user", "version": "9", "installed": true, "enabled": true})
		if name == "codex" {
			answer = map[string]any{"installed": answer}
		}
	case "plugin marketplace list --json":
		entries = append(entries, map[string]any{"name": "theirs", "path": "/theirs", "root": "/theirs"})
		if s.Market != "" {
			entries = append(entries, map[string]any{"name": marketplace, "path": s.Market, "root": s.Market, "source": "directory", "marketplaceSource": map[string]any{"source": s.Market}})
		}
		answer = entries
		if name == "codex" {
			answer = map[string]any{"marketplaces": entries}
		}
	default:
		return "", false
	}
	if s.Say != "" {
		return s.Say, true
	}
	text, err := json.Marshal(answer)
	return string(text), err == nil
}

func (s *fakeState) change(name string, args []string) int {
	install, uninstall, manifest := "install", "uninstall", ".claude-plugin/plugin.json"
	if name == "codex" {
		install, uninstall, manifest = "add", "remove", ".codex-plugin/plugin.json"
	}
	scope := scopeUser
	if name == "claude" && len(args) == 5 && args[3] == "--scope" && args[1] != "marketplace" {
		scope, args = args[4], args[:3]
	}
	switch {
	case name == "pi":
		return s.changePi(args)
	case len(args) == 4 && slices.Equal(args[:3], []string{"plugin", "marketplace", "add"}) && s.Market == "":
		if _, err := os.Stat(filepath.Join(args[3], ".claude-plugin", "marketplace.json")); err != nil {
			return 6
		}
		s.Market = args[3]
	case slices.Equal(args, []string{"plugin", "marketplace", "remove", marketplace}) && s.Market != "":
		s.Market = ""
	case slices.Equal(args, []string{"plugin", install, pluginID}) && s.Market != "":
		_, version := piManifestAt(filepath.Join(s.Market, "plugin", manifest))
		s.Installed[scope] = version
		if scope == scopeProject {
			s.Project, _ = os.Getwd()
		}
	case slices.Equal(args, []string{"plugin", uninstall, pluginID}) && (s.Installed[scope] != "" || name == "codex"):
		delete(s.Installed, scope)
	default:
		return 9
	}
	return 0
}

func piManifestAt(path string) (name, version string) {
	var manifest struct{ Name, Version string }
	text, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(text, &manifest) != nil {
		return "", ""
	}
	return manifest.Name, manifest.Version
}

// changePi changes settings.json as pi does: paths are relative to its folder.
func (s *fakeState) changePi(args []string) int {
	settings := filepath.Join(os.Getenv("PI_CODING_AGENT_DIR"), "settings.json")
	switch {
	case len(args) == 4 && args[2] == "--local" && args[3] == "--approve":
		settings = filepath.Join(".pi", "settings.json")
	case len(args) != 2:
		return 9
	}
	file := map[string]any{}
	if text, err := os.ReadFile(settings); err == nil && json.Unmarshal(text, &file) != nil {
		return 6
	}
	folder, err := filepath.Abs(filepath.Dir(settings))
	if err != nil {
		return 8
	}
	name, err := filepath.Rel(folder, args[1])
	if err != nil {
		return 8
	}
	packages, _ := file["packages"].([]any)
	at := slices.Index(packages, any(name))
	switch {
	case args[0] == "install" && at < 0:
		packages = append(packages, name)
	case args[0] == "remove" && at >= 0:
		packages = slices.Delete(packages, at, at+1)
	default:
		return 9
	}
	file["packages"] = packages
	text, err := json.Marshal(file)
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	if err == nil {
		err = os.WriteFile(settings, text, 0o600)
	}
	if err != nil {
		return 8
	}
	return 0
}
