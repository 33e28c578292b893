package modelserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A ToolCall is a tool that the model wants to be run. Args is marshalled to JSON; a json.RawMessage goes out as it is,
// well formed or not.
type ToolCall struct {
	Name string
	Args any

	resolve func(Request) (ToolCall, error)
}

// A Tool is one that a request declares.
type Tool struct {
	Name   string
	Schema json.RawMessage // of its arguments
}

// Bash is a call of whatever shell tool the request declares; see [BashCall]. It may stand in a step that is written
// before there is a request.
func Bash(command string) ToolCall {
	return ToolCall{resolve: func(r Request) (ToolCall, error) { return BashCall(r, command) }}
}

// Write is a call of whatever file-writing tool the request declares; see [WriteCall].
func Write(path, content string) ToolCall {
	return ToolCall{resolve: func(r Request) (ToolCall, error) { return WriteCall(r, path, content) }}
}

// BashCall runs a command with the shell tool that the request declares: `bash` of pi, `Bash` of Claude Code, and their
// like. The arguments follow the tool's schema. It is an error when there is no such tool.
func BashCall(r Request, command string) (ToolCall, error) {
	return declared(r, []string{"bash", "shell", "shell_command", "exec_command", "run_shell_command"}, []argument{
		{[]string{"command", "cmd"}, command},
		{[]string{"description"}, "run a command"},
	})
}

// WriteCall writes a file with the tool that the request declares: `write` of pi, `Write` of Claude Code, and their like.
// Claude Code wants an absolute path. It is an error when there is no such tool.
func WriteCall(r Request, path, content string) (ToolCall, error) {
	return declared(r, []string{"write", "write_file"}, []argument{
		{[]string{"path", "file_path", "filePath"}, path},
		{[]string{"content"}, content},
	})
}

type argument struct {
	names []string // any of these, as the schema has it
	value string
}

func declared(r Request, tools []string, arguments []argument) (ToolCall, error) {
	i := slices.IndexFunc(r.Tools, func(t Tool) bool { return slices.Contains(tools, strings.ToLower(t.Name)) })
	if i < 0 {
		return ToolCall{}, fmt.Errorf("the request declares none of the tools %s", strings.Join(tools, ", "))
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
	for _, a := range arguments {
		for _, name := range a.names {
			property, ok := schema.Properties[name]
			switch {
			case !ok:
			case property.Type == "array":
				args[name] = []string{"bash", "-lc", a.value}
			default:
				args[name] = a.value
			}
		}
	}
	return ToolCall{Name: tool.Name, Args: args}, nil
}
