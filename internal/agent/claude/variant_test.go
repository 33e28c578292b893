package claude

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/agenttest"
	"github.com/ralph-loop/ralph/internal/testkit/golden"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestCommandsOfVariants(t *testing.T) {
	tests := []struct {
		name string
		d    *Dialect
		spec agent.Spec
		want string // argv, or the error after "error: "
	}{
		{"Amp's prompt is last, after -x", NewAmp(), agent.Spec{Command: []string{"amp"}, Prompt: "go"}, "amp --stream-json --dangerously-allow-all -x go"},
		{"so it is after the user's flags", NewAmp(), agent.Spec{Command: []string{"npx", "@ampcode/cli"}, Flags: []string{"--label", "a"}, Model: "high", Prompt: "go"},
			"npx @ampcode/cli --stream-json --dangerously-allow-all -m high --label a -x go"},
		{"a prompt is no flag", NewAmp(), agent.Spec{Command: []string{"amp"}, Prompt: "--help"}, "amp --stream-json --dangerously-allow-all -x  --help"},
		{"-x is set by ralph", NewAmp(), agent.Spec{Command: []string{"amp"}, Flags: []string{"-x"}}, "error: amp: ralph sets -x itself: leave it out"},
		{"a prompt that no argument can hold is an error", NewAmp(), agent.Spec{Command: []string{"amp"}, Prompt: strings.Repeat("x", 200_000)},
			"error: amp: a prompt of 200000 bytes is too long: it is an argument of the program"},
		{"Qwen's prompt is written", NewQwen(), agent.Spec{Command: []string{"qwen"}, Model: "m", Prompt: "go"},
			"qwen --input-format stream-json --output-format stream-json --yolo --model m"},
		{"a person may want to be asked", NewQwen(), agent.Spec{Command: []string{"qwen"}, Flags: []string{"--approval-mode=auto-edit"}},
			"qwen --input-format stream-json --output-format stream-json --approval-mode=auto-edit"},
		{"Qwen would wait for an answer", NewQwen(), agent.Spec{Command: []string{"qwen"}, Permissions: agent.PermitWorkspace},
			"error: qwen: with permissions workspace it would wait for a person without end: leave its protocol out, so that ralph uses ACP"},
		{"Amp has no flag for that", NewAmp(), agent.Spec{Command: []string{"amp"}, Permissions: agent.PermitWorkspace, Prompt: "go"}, "amp --stream-json -x go"},
		{"a provider has no place", NewQwen(), agent.Spec{Command: []string{"qwen"}, Provider: "p"}, "error: qwen: it takes no provider: choose it in its own settings"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			command, err := test.d.Command(test.spec)
			got := strings.Join(command.Argv, " ")
			if err != nil {
				got = "error: " + err.Error()
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestVariantCaptures: Qwen Code's were captured; Amp's were written from what
// its program says of them.
func TestVariantCaptures(t *testing.T) {
	paths, err := filepath.Glob("testdata/variants/*.jsonl")
	if err != nil || len(paths) < 4 {
		t.Fatalf("streams: %d, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			d := NewQwen()
			if strings.HasPrefix(filepath.Base(path), "amp") {
				d = NewAmp()
			}
			if _, err := d.Command(agent.Spec{Command: []string{"agent"}, LoopDir: "/loop", Prompt: "go"}); err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			for _, line := range d.Open(agent.Prompt{Text: "go", Iteration: 1}) {
				fmt.Fprintf(&got, "> %s\n", line)
			}
			var out agent.Decoded
			for _, line := range lines(t, path) {
				out.Reset()
				d.Decode(line, agent.Stdout, &out)
				for _, fact := range out.Facts {
					draft := event.Encode(fact, "agent")
					fmt.Fprintf(&got, "%s %s\n", draft.Type, draft.Data)
				}
				if out.DropRaw || len(out.Reply) > 0 {
					t.Errorf("dropped %t, answered %q", out.DropRaw, out.Reply)
				}
			}
			golden.Check(t, strings.TrimSuffix(path, ".jsonl")+".golden", got.Bytes())
		})
	}
}

// ampPrints is what Amp prints when it is given a prompt.
func ampPrints(prompt string) [][]byte {
	printed := [][]byte{
		[]byte(`{"type":"system","subtype":"init","cwd":"/p","session_id":"T-1","tools":[],"mcp_servers":[],"agent_mode":"medium"}`),
		[]byte(`{"type":"assistant","message":{"type":"message","role":"assistant","content":[{"type":"text","text":"On it."}],"stop_reason":"end_turn"},"parent_tool_use_id":null,"session_id":"T-1"}`),
	}
	if strings.Contains(prompt, agenttest.Wait) {
		return printed
	}
	return append(printed, []byte(`{"type":"result","subtype":"success","duration_ms":1,"is_error":false,"num_turns":1,"result":"On it.","session_id":"T-1"}`))
}

func TestAmpProcess(t *testing.T) {
	agenttest.Processes(t, agenttest.Agent{New: func() agent.Dialect { return NewAmp() }, Spec: suite.Spec, Fake: suite.Fake})
}

// Qwen Code is written to as Claude Code is, and can neither be steered nor interrupted.
func TestQwenSuite(t *testing.T) {
	agenttest.Suite(t, agenttest.Agent{New: func() agent.Dialect { return NewQwen() }, Spec: suite.Spec, Fake: suite.Fake})
}

func FuzzAmp(f *testing.F) {
	streams := map[string][]byte{}
	for _, path := range []string{"amp-work", "amp-failed"} {
		streams[path] = bytes.Join(lines(f, "testdata/variants/"+path+".jsonl"), []byte("\n"))
	}
	agenttest.Fuzz(f, agenttest.Agent{New: func() agent.Dialect { return NewAmp() }, Spec: suite.Spec, Fake: suite.Fake, Streams: streams})
}
