package acp

import (
	"fmt"
	"strings"
	"testing"
)

// TestToolOutput: what a call came to, by the lines that the agents print of it.
func TestToolOutput(t *testing.T) {
	const text = `{"type":"content","content":{"type":"text","text":%q}}`
	content := func(words string) string { return fmt.Sprintf(text, words) }
	for name, row := range map[string]struct {
		updates []string
		want    []string
	}{
		"printed with the end": {[]string{
			`"sessionUpdate":"tool_call","toolCallId":"1","name":"sh","status":"in_progress","rawInput":{"command":"ls"}`,
			`"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed","_meta":{"terminal_output":{"data":"a\n"}}`,
		}, []string{"called sh", "returned a"}},
		"printed before the end and with it": {[]string{
			`"sessionUpdate":"tool_call","toolCallId":"1","name":"sh","status":"in_progress","rawInput":{"command":"ls"}`,
			`"sessionUpdate":"tool_call_update","toolCallId":"1","_meta":{"terminal_output_delta":{"data":"a\n"}}`,
			`"sessionUpdate":"tool_call_update","toolCallId":"1","status":"failed","_meta":{"terminal_output_delta":{"data":"b\n"},"terminal_exit":{"exit_code":1}}`,
		}, []string{"called sh", "tool.progressed", "returned a\nb"}},
		"a description is no output": {[]string{
			`"sessionUpdate":"tool_call","toolCallId":"1","name":"sh","status":"in_progress","content":[` + content("in the folder (probe)") + `]`,
			`"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed","content":[]`,
		}, []string{"called sh", "returned"}},
		"but output that follows it is": {[]string{
			`"sessionUpdate":"tool_call","toolCallId":"1","name":"sh","status":"in_progress","content":[` + content("in the folder (probe)") + `]`,
			`"sessionUpdate":"tool_call_update","toolCallId":"1","status":"in_progress","content":[` + content("a") + `]`,
			`"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed","content":[]`,
		}, []string{"called sh", "tool.progressed", "returned a"}},
		"a call that is over with its first line": {[]string{
			`"sessionUpdate":"tool_call","toolCallId":"1","name":"sh","status":"completed","content":[` + content("a") + `]`,
		}, []string{"called sh", "returned a"}},
		"the tool's own text, and not what is made of it for a person": {[]string{
			`"sessionUpdate":"tool_call","toolCallId":"1","name":"sh","status":"completed","rawOutput":"a","content":[` + content("```console\na\n```") + `]`,
		}, []string{"called sh", "returned a"}},
		"a member of it": {[]string{
			`"sessionUpdate":"tool_call","toolCallId":"1","name":"sh","status":"completed","rawOutput":{"output":"a","error":null},"content":[` + content("Command: ls\nOutput: a") + `]`,
		}, []string{"called sh", "returned a"}},
		"an empty one says less than the content": {[]string{
			`"sessionUpdate":"tool_call","toolCallId":"1","name":"sh","status":"failed","rawOutput":{"output":"","error":"boom"},"content":[` + content("Exit Code: 1") + `]`,
		}, []string{"called sh", "returned Exit Code: 1"}},
		"an error's message where that is all": {[]string{
			`"sessionUpdate":"tool_call","toolCallId":"1","name":"sh","status":"failed","rawOutput":{"output":"","error":"boom"}`,
		}, []string{"called sh", "returned boom"}},
	} {
		t.Run(name, func(t *testing.T) {
			k := begun(t, "some-acp")
			for _, update := range row.updates {
				k.update("%s", update)
			}
			k.expect("facts", k.facts, row.want...)
		})
	}
}

// The same line, as it is spelled by those who escape the slash.
func TestEscapedSlash(t *testing.T) {
	k := begun(t, "qwen")
	k.say(`"method":"session\/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hello"}}}`)
	k.say(`"id":7,"method":"session\/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"1"},"options":[{"optionId":"yes","kind":"allow_once"}]}`)
	k.say(`"id":8,"method":"craft\/drainMidTurnQueue","params":{"sessionId":"s1"}`)
	k.expect("facts", k.facts, "said hello", "called tool", "answered allow_once")
	if got := strings.Join(k.wrote, "\n"); !strings.Contains(got, `"optionId":"yes"`) || !strings.Contains(got, `"messages":[]`) {
		t.Errorf("wrote %s", got)
	}
}

// What agents say for themselves is none of the model's words, whether they have a word of the
// protocol for it or not.
func TestAsidesAreNotices(t *testing.T) {
	for name, row := range map[string]struct{ program, update string }{
		"a notice":                           {"claude-agent-acp", `"sessionUpdate":"notice","severity":"warning","title":"MCP server failed","description":"no such file"`},
		"Codex's warning":                    {"codex-acp", `"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Warning: Model metadata not found.\n\n"}`},
		"Codex's warning of its settings":    {"codex-acp", `"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Config warning: unknown key\n\n"}`},
		"Gemini's mode":                      {"gemini", `"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"[MODE_UPDATE] yolo"}`},
		"a newer pi":                         {"pi-acp", `"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"New version available: v1.5.2 (installed v0.87.1). Run: it\n"}`},
		"what pi-acp said that it would say": {"pi-acp", `"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Whatever it says\nat its start\n"}`},
		"what an extension of pi's notifies": {"pi-acp", `"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"saved"},"_meta":{"piAcp":{"notify":{"level":"info"}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			k := begun(t, row.program)
			k.d.startup = "Whatever it says\nat its start\n"
			k.update("%s", row.update)
			k.say(`"id":3,"result":{"stopReason":"end_turn"}`)
			k.expect("facts", k.facts, "used 0 0 unknown", "finished ok")
		})
	}
	for name, row := range map[string]struct{ program, update string }{
		"a message of the model": {"codex-acp", `"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"Warning: this is mine.\n\n"}`},
		"of another agent":       {"opencode", `"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Warning: this is mine.\n\n"}`},
	} {
		t.Run(name, func(t *testing.T) {
			k := begun(t, row.program)
			k.update("%s", row.update)
			k.expect("facts", k.facts, "said Warning: this is mine.\n\n")
		})
	}
}
