package agent

import (
	"bytes"
	"encoding/json"
	"strings"
)

// A Hook is one of ralph's hooks that an agent gets with its start, without a plugin: the guard
// before a tool, the warning of a full context window after it, and the checks before a stop.
type Hook struct {
	Event   string `json:"-"` // as the agent calls it
	Matcher string `json:"-"` // the tools that it is for; all without one
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"` // seconds
}

// OwnHooks returns the hooks of this session, for an agent whose tools that change or read files
// are these; none if the session gets none.
func (s Spec) OwnHooks(fileTools ...string) []Hook {
	if s.Hooks == "" {
		return nil
	}
	command := "'" + strings.ReplaceAll(s.Hooks, "'", `'\''`) + "' hook "
	return []Hook{
		{"PreToolUse", strings.Join(append([]string{"Bash"}, fileTools...), "|"), "command", command + "pre-tool-use", 10},
		{"PostToolUse", "", "command", command + "post-tool-use", 10},
		{"Stop", "", "command", command + "stop", 30},
	}
}

// PlainJSON is a value as JSON, with its keys in order and < and & as they are.
func PlainJSON(value any) string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // maps, texts and numbers always encode
	return strings.TrimSuffix(text.String(), "\n")
}
