package modelserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A ToolCall is a tool that the model wants to be run. Args is marshalled to JSON; a
// json.RawMessage goes out as it is, well formed or not.
type ToolCall struct {
	Name string
	Args any
	// of the tool; responses only. Codex has one for each MCP server
	Namespace string

	resolve func(Request) (ToolCall, error)
}

// A Tool is one that a request declares.
type Tool struct {
	Name   string
	Schema json.RawMessage // of its arguments
}

// Bash is a call of the shell tool that the request declares: `bash` of pi, `Bash` of Claude Code,
// and their like. The arguments follow the tool's schema. A request without such a tool is a fault.
func Bash(command string) ToolCall {
	return ToolCall{resolve: func(r Request) (ToolCall, error) { return shellCall(r, command) }}
}

func shellCall(r Request, command string) (ToolCall, error) {
	shells := []string{"bash", "shell", "shell_command", "exec_command", "run_shell_command"}
	i := slices.IndexFunc(r.Tools, func(t Tool) bool { return slices.Contains(shells, strings.ToLower(t.Name)) })
	if i < 0 {
		return ToolCall{}, fmt.Errorf("the request declares none of the tools %s", strings.Join(shells, ", "))
	}
	tool := r.Tools[i]
	var schema struct {
		Properties map[string]struct {
			Type any `json:"type"` // a string, or a list of strings
		} `json:"properties"`
	}
	if err := json.Unmarshal(tool.Schema, &schema); err != nil {
		return ToolCall{}, fmt.Errorf("read the schema of tool %s: %w", tool.Name, err)
	}
	args := map[string]any{}
	for name, value := range map[string]string{"command": command, "cmd": command, "description": "run a command"} {
		switch property, ok := schema.Properties[name]; {
		case !ok:
		case property.Type == "array":
			args[name] = []string{"bash", "-lc", value}
		default:
			args[name] = value
		}
	}
	return ToolCall{Name: tool.Name, Args: args}, nil
}
