package shellguard

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/loopfolder"
)

// own describes a file that belongs to ralph or to the guard; empty if a file does not.
func (s *shell) own(word string) string {
	file, _, ok := s.target(word)
	if !ok {
		return ownByName(word)
	}
	if file == "" {
		return ""
	}
	if s.dir == "" && !strings.HasPrefix(word, "/") { // perhaps in the project
		file = path.Join(s.Project, path.Clean(word))
	}
	if slices.ContainsFunc(s.Protected, func(p string) bool { return under(file, p) }) {
		return word + ", which ralph protects"
	}
	if s.Home != "" && file != s.Home && under(file, path.Join(s.Home, ".ralph")) {
		return "ralph's own files in " + word
	}
	for _, root := range []string{s.Project, s.Home} {
		name, ok := strings.CutPrefix(file, root+"/")
		if root == "" || root == "/" || !ok {
			continue
		}
		switch parts := strings.Split(name, "/"); parts[0] {
		case ".ralph-active":
			return "the marker of a running loop"
		case ".claude", ".codex":
			if agentSettings(parts) {
				return "the settings of the agent, which contain its hooks"
			}
		case ".ralph":
			if len(parts) > 1 && parts[1] == "session" {
				return "the state of session loops"
			}
			if len(parts) == 2 && strings.HasPrefix(parts[1], "settings") {
				return "ralph's settings"
			}
			if len(parts) > 2 && loopfolder.Has(parts[2]) {
				return "ralph's own files in " + path.Join(parts[0], parts[1])
			}
		}
	}
	return ""
}

func agentSettings(parts []string) bool {
	return len(parts) == 2 && (strings.HasPrefix(parts[1], "settings") || parts[1] == "hooks.json" || parts[1] == "config.toml")
}

// ownByName recognizes ralph's settings and marker in a folder that is unknown.
func ownByName(word string) string {
	for _, name := range []string{"/.ralph/settings.json", "/.ralph/settings.local.json", "/.ralph-active"} {
		if strings.HasSuffix(word, name) {
			return "ralph's settings or marker"
		}
	}
	return ""
}

// ownRemoved is own for a removal, which takes what is in a folder too.
func (s *shell) ownRemoved(word string) string {
	if what := s.own(word); what != "" {
		return what
	}
	file, _, ok := s.target(word)
	if !ok || file == "" {
		return ""
	}
	for _, p := range s.Protected {
		if file != "/" && under(p, file) && file != s.Project && !under(s.Project, file) {
			return word + ", which contains files that ralph protects"
		}
	}
	for _, root := range []string{s.Project, s.Home} {
		if root == "" || root == "/" {
			continue
		}
		name := strings.TrimPrefix(file, root+"/")
		if name == ".ralph" || strings.HasPrefix(name, ".ralph/") && strings.Count(name, "/") == 1 {
			return "ralph's folder " + name
		}
		if name == ".claude" || name == ".codex" {
			return "the settings of the agent, which contain its hooks"
		}
	}
	return ""
}
