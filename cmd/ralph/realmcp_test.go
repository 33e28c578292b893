//go:build realagents && unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/agenttest/modelserver"
	"github.com/ralph-loop/ralph/registry"
)

// mcpScript starts a loop, looks at it, and ends. The tools have a prefix or a namespace; first is
// what comes before.
func mcpScript(prefix, namespace string, first ...modelserver.ToolCall) modelserver.Script {
	usage := modelserver.Usage{In: 1000, Out: 10}
	calls := append(first,
		modelserver.ToolCall{Namespace: namespace, Name: prefix + "ralph_start", Args: map[string]any{"name": "night", "prompt": "wait", "maxIterations": 3}},
		modelserver.ToolCall{Namespace: namespace, Name: prefix + "ralph_list", Args: map[string]any{}})
	var steps []modelserver.Step
	for _, call := range calls {
		steps = append(steps, modelserver.Step{Tools: []modelserver.ToolCall{call}, Usage: usage})
	}
	return modelserver.PerContext(append(steps, modelserver.Step{Text: "MCP-DONE", Usage: usage})...)
}

// beginMCP uses the environment of an agent, with a rehearsal as the agent of the loops.
func (r *real) beginMCP(env []string) (home string) {
	r.t.Helper()
	r.begin(env)
	home = filepath.Join(r.project, "ralph-home")
	r.write("work.rehearsal", waitingAgent)
	r.write("ralph-home/settings.json", `{"agent":`+strconv.Quote(r.ralph+" rehearse "+filepath.Join(r.project, "work.rehearsal"))+`}`)
	return home
}

// checkMCP checks that the loop runs, and that what the tools answered reached the model.
func (r *real) checkMCP(home string) {
	t := r.t
	t.Helper()
	requests := r.server.Requests()
	conversation := requests[len(requests)-1].Text()
	loops, err := registry.Survey(home, nil)
	if err != nil || len(loops) != 1 || loops[0].Name != "night" || !loops[0].Live.Alive {
		t.Fatalf("the registry has %+v, %v; the conversation is %s", loops, err, conversation)
	}
	last := requests[len(requests)-1]
	answers := last.Text(modelserver.ToolOutput)
	if !strings.Contains(answers, loops[0].ID) || !strings.Contains(answers, `"maximumIterations":3`) || !strings.Contains(answers, `"total":1`) {
		t.Errorf("the answers of the tools are %s\nin %s", answers, last.Body)
	}
	r.run("stop", "night", "--now")
}

func TestRealMCPClaude(t *testing.T) {
	r := newReal(t, mcpScript("mcp__ralph__", "", modelserver.ToolCall{Name: "ToolSearch", Args: map[string]any{"query": "select:mcp__ralph__ralph_start,mcp__ralph__ralph_list", "max_results": 5}}))
	claude := filepath.Join(modelserver.AgentBin(t), "claude")
	home := r.beginMCP(modelserver.ClaudeHome(t, r.server))
	r.session(claude, "mcp", "add", "ralph", "--", r.ralph, "mcp")
	if out := r.session(claude, "mcp", "list"); !strings.Contains(out, "Connected") {
		t.Errorf("claude mcp list said %s", out)
	}
	r.session(claude, "-p", "start a loop", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions")
	r.checkMCP(home)
}

func TestRealMCPCodex(t *testing.T) {
	r := newReal(t, mcpScript("", "mcp__ralph"))
	program, env := modelserver.CodexHome(t, r.server)
	home := r.beginMCP(env)
	r.session(program, "mcp", "add", "ralph", "--env", "RALPH_HOME="+home, "--", r.ralph, "mcp")
	r.session(program, "exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "start a loop")
	r.checkMCP(home)
}

// inspector returns the command line of the MCP inspector, a client that is not ours, with a server
// of the place.
func (p *place) inspector() func(args ...string) string {
	p.Helper()
	modules := filepath.Join(filepath.Dir(modelserver.AgentBin(p.T)), "node_modules")
	program := filepath.Join(modules, "@modelcontextprotocol", "inspector")
	text, err := os.ReadFile(filepath.Join(program, "package.json"))
	if err != nil {
		p.Skip("the inspector is not installed: run tools/agents/install.sh")
	}
	var about struct{ Bin map[string]string }
	if err := json.Unmarshal(text, &about); err != nil || about.Bin["mcp-inspector"] == "" {
		p.Fatalf("%v: no program in %s", err, text)
	}
	node := filepath.Join(modules, "node", "bin", "node")
	return func(args ...string) string {
		p.Helper()
		cmd := p.command()
		ralph := cmd.Path
		cmd.Path = node
		cmd.Args = append([]string{node, filepath.Join(program, about.Bin["mcp-inspector"]), "--cli", "-e", "RALPH_HOME=" + p.home, ralph, "mcp"}, args...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			p.Fatalf("the inspector: %v\n%s", err, out)
		}
		return string(out)
	}
}

func TestRealMCPInspector(t *testing.T) {
	p := mcpPlace(t, waitingAgent)
	inspect := p.inspector()
	if out := inspect("--method", "tools/list"); !strings.Contains(out, `"ralph_start"`) || strings.Contains(out, `"ralph_ask"`) {
		t.Errorf("the tools are %s", out)
	}
	inspect("--method", "tools/call", "--tool-name", "ralph_start", "--tool-arg", "name=night", "--tool-arg", "prompt=wait")
	if out := inspect("--method", "tools/call", "--tool-name", "ralph_list"); !strings.Contains(out, `"total": 1`) || !strings.Contains(out, `"night"`) {
		t.Errorf("the list is %s", out)
	}
	if out := inspect("--method", "resources/list"); !strings.Contains(out, "ralph://loop/") || !strings.Contains(out, "/report") {
		t.Errorf("the resources are %s", out)
	}
	p.fine("stop", "night", "--now")
}

// In version 2026-07-28 the inspector has tasks: it gets one, and waits for its result.
func TestRealMCPInspectorTasks(t *testing.T) {
	p := mcpPlace(t, "iteration *\n  append a.txt x\n  promise\n")
	out := p.inspector()("--protocol-era", "modern", "--method", "tools/call", "--tool-name", "ralph_start", "--tool-arg", "name=night", "--tool-arg", "prompt=x")
	if !strings.Contains(out, `"status": "completed"`) || !strings.Contains(out, `"reason": "promise"`) {
		t.Errorf("the result is %s", out)
	}
}
