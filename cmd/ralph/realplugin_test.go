//go:build realagents && unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agenttest/modelserver"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/internal/verb/hook"
)

// withRalph puts ralph, and a program of an agent, on the PATH of the environment: the plugin calls
// ralph there.
func (r *real) withRalph(env []string, program string) []string {
	r.t.Helper()
	for i, entry := range env {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			env[i] = "PATH=" + filepath.Dir(r.ralph) + string(os.PathListSeparator) + filepath.Dir(program) + string(os.PathListSeparator) + path
		}
	}
	return env
}

// session runs an agent in a person's session, and returns what it prints.
func (r *real) session(program string, args ...string) string {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = r.project, r.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s: %v\n%s", program, err, out)
	}
	return string(out)
}

func (r *real) sessionLoop() hook.SessionLoop {
	r.t.Helper()
	var loops []hook.SessionLoop
	if err := json.Unmarshal([]byte(r.run("session", "status", "--json")), &loops); err != nil || len(loops) != 1 {
		r.t.Fatalf("%+v, %v", loops, err)
	}
	return loops[0]
}

// pluginScript is what the model does on reading a skill: it starts a loop, is sent back, works
// and promises.
func pluginScript() modelserver.Script {
	usage := modelserver.Usage{In: 1000, Out: 10}
	return modelserver.Sequence(
		modelserver.Step{Text: "Starting.", Tools: []modelserver.ToolCall{modelserver.Bash(`ralph session start 'don'\''t "give" up' --max-iterations 7`)}, Usage: usage},
		modelserver.Step{Text: "FIRST-STOP", Usage: usage},
		modelserver.Step{Text: "Working.", Tools: []modelserver.ToolCall{modelserver.Bash("echo work")}, Usage: usage},
		modelserver.Step{Text: "<promise>DONE</promise>", Usage: usage},
	)
}

// checkPluginLoop checks that the model read the skill and what sent it back, and how it ended.
func (r *real) checkPluginLoop() {
	t := r.t
	t.Helper()
	requests := r.server.Requests()
	if len(requests) != 4 {
		t.Fatalf("%d requests, the last: %s", len(requests), requests[len(requests)-1].Body)
	}
	if !requests[0].Holds("Hold this session until its task is done") || !requests[0].Holds(`don't "give" up`) {
		t.Errorf("the skill or the task is not in the first request: %s", requests[0].Body)
	}
	if requests[1].Holds("FIRST-STOP") || !requests[2].Holds("<promise>DONE</promise>") {
		t.Error("the model was not sent back")
	}
	if l := r.sessionLoop(); l.Result != hook.PromiseAccepted || l.Iteration != 1 || l.MaxIterations != 7 || l.Task != `don't "give" up` {
		t.Errorf("%+v", l)
	}
}

func TestRealClaudePlugin(t *testing.T) {
	r := newReal(t, pluginScript())
	claude := filepath.Join(modelserver.AgentBin(t), "claude")
	r.begin(r.withRalph(modelserver.ClaudeHome(t, r.server), claude))
	out := r.run("plugin", "install", "claude", "--yes")
	if !strings.Contains(out, "is installed in Claude Code (for all projects)") {
		t.Errorf("%s", out)
	}
	r.session(claude, "plugin", "validate", "--strict", filepath.Join(r.project, "ralph-home", "plugins", "claude", "plugin"))
	if out := r.run("plugin", "install", "claude"); !strings.Contains(out, "already") {
		t.Errorf("a second time, it said %s", out)
	}
	if out := r.run("plugin", "show"); !strings.Contains(out, "for all projects\n") {
		t.Errorf("show said %s", out)
	}
	r.session(claude, "-p", `/ralph-loop don't "give" up`, "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions")
	r.checkPluginLoop()
	r.run("plugin", "uninstall", "claude", "--yes")
	if out := r.run("plugin", "uninstall", "claude"); !strings.Contains(out, "is not installed") {
		t.Errorf("a second time, it said %s", out)
	}
	if _, err := os.Lstat(filepath.Join(r.project, "ralph-home", "plugins", "claude")); err == nil {
		t.Error("the folder of the plugin is left")
	}
}

// What a person has in the settings stays, also with an installation for one project.
func TestRealClaudePluginKeepsSettings(t *testing.T) {
	r := newReal(t, pluginScript())
	claude := filepath.Join(modelserver.AgentBin(t), "claude")
	r.begin(r.withRalph(modelserver.ClaudeHome(t, r.server), claude))
	const theirs = `{"model": "opus", "enabledPlugins": {"other@theirs": false}, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}`
	home := ""
	for _, entry := range r.env {
		if value, ok := strings.CutPrefix(entry, "HOME="); ok {
			home = value
		}
	}
	user := filepath.Join(home, ".claude", "settings.json")
	testfile.Write(t, user, theirs)
	r.write(".claude/settings.json", theirs)
	r.run("plugin", "install", "claude", "--yes")
	r.run("plugin", "install", "claude", "--yes", "--project")
	r.run("plugin", "uninstall", "claude", "--yes")
	if out := r.run("plugin", "show"); !strings.Contains(out, "for the project") || strings.Contains(out, "for all projects") {
		t.Errorf("show said %s", out)
	}
	r.run("plugin", "uninstall", "claude", "--yes", "--project")
	for _, path := range []string{user, filepath.Join(r.project, ".claude", "settings.json")} {
		text := testfile.Read(t, path)
		var left struct {
			Model                  string
			EnabledPlugins         map[string]bool
			Hooks                  map[string]any
			ExtraKnownMarketplaces map[string]any
		}
		if err := json.Unmarshal(text, &left); err != nil || left.Model != "opus" || left.Hooks["Stop"] == nil || len(left.EnabledPlugins) != 1 || len(left.ExtraKnownMarketplaces) != 0 {
			t.Errorf("%s: %s", path, text)
		}
	}
}

// Each flag that may follow the task does what it says.
func TestRealClaudePluginFlags(t *testing.T) {
	usage := modelserver.Usage{In: 1000, Out: 10}
	say := func(text string) modelserver.Step { return modelserver.Step{Text: text, Usage: usage} }
	run := func(command string) modelserver.Step {
		return modelserver.Step{Text: "Working.", Tools: []modelserver.ToolCall{modelserver.Bash(command)}, Usage: usage}
	}
	for _, test := range []struct {
		name, flags string
		steps       []modelserver.Step
		result      hook.Result
		iteration   int
	}{
		{"a promise without work is rejected", "--completion-promise PORTED --min-tool-calls 2", []modelserver.Step{
			say("<promise>PORTED</promise>"), run("echo 1"), say("<promise>DONE</promise> <promise> PORTED</promise>"), run("echo 2"), say("<promise>PORTED</promise>"),
		}, hook.PromiseAccepted, 2},
		{"a promise without work is accepted", "--min-tool-calls 5 --on-promise-no-work accept", []modelserver.Step{say("<promise>DONE</promise>")}, hook.PromiseAccepted, 0},
		{"the limit is reached", "--max-iterations 2", []modelserver.Step{say("no"), say("no"), say("no")}, hook.LimitReached, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newReal(t, modelserver.Sequence(append([]modelserver.Step{run("ralph session start THE-TASK " + test.flags)}, test.steps...)...))
			claude := filepath.Join(modelserver.AgentBin(t), "claude")
			r.begin(r.withRalph(modelserver.ClaudeHome(t, r.server), claude))
			r.run("plugin", "install", "claude", "--yes")
			r.session(claude, "-p", "/ralph-loop THE-TASK "+test.flags, "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions")
			if l := r.sessionLoop(); l.Result != test.result || l.Iteration != test.iteration {
				t.Errorf("%+v", l)
			}
			if requests := r.server.Requests(); len(requests) != len(test.steps)+1 {
				t.Errorf("%d requests", len(requests))
			}
		})
	}
}

// A person interrupts a held session, and ends its loop.
func TestRealClaudePluginCancel(t *testing.T) {
	usage := modelserver.Usage{In: 1000, Out: 10}
	r := newReal(t, modelserver.Sequence(
		modelserver.Step{Text: "Starting.", Tools: []modelserver.ToolCall{modelserver.Bash("ralph session start THE-TASK")}, Usage: usage},
		modelserver.Step{Text: "FIRST-STOP", Usage: usage},
		modelserver.Step{Text: "Working.", Tools: []modelserver.ToolCall{modelserver.Bash("timeout 50 tail -f /dev/null")}, Usage: usage},
		modelserver.Step{Text: "CANCELLED-STOP", Usage: usage},
	))
	claude := filepath.Join(modelserver.AgentBin(t), "claude")
	r.begin(r.withRalph(modelserver.ClaudeHome(t, r.server), claude))
	r.run("plugin", "install", "claude", "--yes")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, claude, "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions")
	cmd.Dir, cmd.Env = r.project, r.env
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	const say = `{"type":"user","message":{"role":"user","content":[{"type":"text","text":%q}]}}` + "\n"
	fmt.Fprintf(in, say, "/ralph-loop THE-TASK")
	results := 0
	for lines := bufio.NewReader(out); results < 2; {
		line, err := lines.ReadString('\n')
		switch {
		case err != nil:
			t.Fatalf("the session ended after %d turns: %v", results, err)
		case strings.Contains(line, `"tool_use"`) && strings.Contains(line, "tail -f"):
			fmt.Fprintln(in, `{"type":"control_request","request_id":"r1","request":{"subtype":"interrupt"}}`)
		case strings.Contains(line, `"type":"result"`):
			if results++; results == 1 {
				if l := r.sessionLoop(); l.Iteration != 1 || l.Result != "" {
					t.Errorf("the session is not held: %+v", l)
				}
				fmt.Fprintf(in, say, "/cancel-ralph")
			}
		}
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("claude: %v", err)
	}
	requests := r.server.Requests()
	if len(requests) != 4 || !requests[3].Holds("End the loop that holds this session") || !requests[3].Holds("ralph has ended the session loop") {
		t.Errorf("%d requests", len(requests))
	}
	if l := r.sessionLoop(); l.Result != hook.Cancelled || l.Iteration != 1 {
		t.Errorf("%+v", l)
	}
}

// The other skills are loaded by their names.
func TestRealClaudePluginSkills(t *testing.T) {
	usage := modelserver.Usage{In: 1000, Out: 10}
	const start = `ralph session start THE-TASK --max-iterations 20 --prefix 'Ultrawork mode: plan all steps first.'`
	r := newReal(t, modelserver.Sequence(
		modelserver.Step{Text: "What shall I plan?", Usage: usage},
		modelserver.Step{Text: "Starting.", Tools: []modelserver.ToolCall{modelserver.Bash(start)}, Usage: usage},
		modelserver.Step{Text: "FIRST-STOP", Usage: usage},
		modelserver.Step{Text: "Working.", Tools: []modelserver.ToolCall{modelserver.Bash("echo work")}, Usage: usage},
		modelserver.Step{Text: "<promise>DONE</promise>", Usage: usage},
	))
	claude := filepath.Join(modelserver.AgentBin(t), "claude")
	r.begin(r.withRalph(modelserver.ClaudeHome(t, r.server), claude))
	r.run("plugin", "install", "claude", "--yes")
	flags := []string{"--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"}
	if out := r.session(claude, append([]string{"-p", "/ralph-plan a parser"}, flags...)...); !strings.Contains(out, `{"name":"plugin:ralph:ralph","status":"connected"`) {
		t.Errorf("the MCP server of the plugin is not connected: %.3000s", out)
	}
	r.session(claude, append([]string{"-p", "/ulw-loop THE-TASK"}, flags...)...)
	requests := r.server.Requests()
	if len(requests) != 5 {
		t.Fatalf("%d requests", len(requests))
	}
	for i, want := range []string{"Write a plan for a loop", "Hold this session until its task is done, in ultrawork mode", "Ultrawork mode: plan all steps first."} {
		if !requests[i].Holds(want) {
			t.Errorf("request %d does not hold %q", i+1, want)
		}
	}
	if text := requests[3].Text(modelserver.User); !strings.Contains(text, "Ultrawork mode: plan all steps first.") {
		t.Errorf("sent back with %s", text)
	}
}

// codexPlugin returns Codex and its settings, with ralph on the PATH of a person.
func (r *real) codexPlugin() (program, config string) {
	t := r.t
	t.Helper()
	program, env := modelserver.CodexHome(t, r.server)
	r.begin(r.withRalph(env, program))
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, "CODEX_HOME="); ok {
			config = filepath.Join(value, "config.toml")
			// Codex runs commands in a login shell, which sets PATH itself.
			profile := "PATH='" + filepath.Dir(r.ralph) + "':$PATH\n"
			testfile.Write(t, filepath.Join(filepath.Dir(value), ".profile"), profile)
		}
	}
	return program, config
}

func TestRealCodexPluginCancel(t *testing.T) {
	r := newReal(t, modelserver.Sequence(modelserver.Step{Text: "CANCELLED-STOP", Usage: modelserver.Usage{In: 1000, Out: 10}}))
	program, config := r.codexPlugin()
	r.run("plugin", "install", "codex", "--yes")
	r.trustHooks(program, config)
	r.run("session", "start", "THE-TASK")
	r.session(program, "exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "$ralph:cancel-ralph")
	if requests := r.server.Requests(); len(requests) != 1 || !requests[0].Holds("ralph has ended the session loop") {
		t.Errorf("%d requests", len(requests))
	}
	if l := r.sessionLoop(); l.Result != hook.Cancelled || l.Iteration != 0 {
		t.Errorf("%+v", l)
	}
}

// Codex runs the plugin's hooks once a person trusts them, as /hooks in a session does it.
func TestRealCodexPlugin(t *testing.T) {
	r := newReal(t, pluginScript())
	program, config := r.codexPlugin()
	before := testfile.Read(t, config)
	r.run("plugin", "install", "codex", "--yes")
	if out := r.run("plugin", "install", "codex"); !strings.Contains(out, "already") {
		t.Errorf("a second time, it said %s", out)
	}
	if out := r.session(program, "mcp", "list"); !strings.Contains(strings.Join(strings.Fields(out), " "), "ralph ralph mcp") {
		t.Errorf("Codex has the servers %s", out)
	}
	r.trustHooks(program, config)
	r.session(program, "exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", `$ralph:ralph-loop don't "give" up`)
	r.checkPluginLoop()
	r.run("plugin", "uninstall", "codex", "--yes")
	after, err := os.ReadFile(config)
	if err != nil || strings.Contains(string(after), "[plugins.") || strings.Contains(string(after), "[marketplaces.") || !strings.Contains(string(after), strings.TrimSpace(string(before))[:100]) {
		t.Errorf("%v\n%s", err, after)
	}
}

// trustHooks writes what Codex writes when a person trusts the hooks of the plugin: their hashes,
// as Codex lists them.
func (r *real) trustHooks(program, config string) {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), program, "app-server")
	cmd.Dir, cmd.Env = r.project, r.env
	in, err := cmd.StdinPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	fmt.Fprintf(in, "%s\n%s\n%s\n", `{"id":1,"method":"initialize","params":{"clientInfo":{"name":"ralph","title":"ralph","version":"0"},"capabilities":{"experimentalApi":false}}}`,
		`{"method":"initialized"}`, `{"id":2,"method":"hooks/list","params":{"cwds":[`+strconv.Quote(r.project)+`]}}`)
	var answer struct {
		ID     int
		Result struct {
			Data []struct {
				Hooks []struct{ Key, CurrentHash, TrustStatus string }
			}
		}
	}
	for decoder := json.NewDecoder(out); answer.ID != 2; {
		if err := decoder.Decode(&answer); err != nil {
			r.t.Fatalf("no list of hooks: %v", err)
		}
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		r.t.Fatalf("codex app-server: %v", err)
	}
	if len(answer.Result.Data) != 1 || len(answer.Result.Data[0].Hooks) != 5 {
		r.t.Fatalf("Codex lists %+v", answer.Result.Data)
	}
	var trust strings.Builder
	for _, h := range answer.Result.Data[0].Hooks {
		hash, content, _ := strings.Cut(h.CurrentHash, "/")
		if h.TrustStatus != "untrusted" || content == "" {
			r.t.Fatalf("%+v", h)
		}
		fmt.Fprintf(&trust, "\n[hooks.state.%q]\ntrusted_hash = %q\ntrusted_content_hash = %q\n", h.Key, hash, content)
	}
	text, err := os.ReadFile(config)
	if err == nil {
		err = os.WriteFile(config, append(text, trust.String()...), 0o600)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// pi loads the extension that ralph installs, for all projects and for one.
func TestRealPiPlugin(t *testing.T) {
	for _, scope := range [][]string{nil, {"--project"}} {
		r := newReal(t, modelserver.Sequence(
			modelserver.Step{Text: "Hello.", Usage: modelserver.Usage{In: 1000, Out: 10}},
			modelserver.Step{Text: "Hello.", Usage: modelserver.Usage{In: 1000, Out: 10}},
		))
		pi := filepath.Join(modelserver.AgentBin(t), "pi")
		env, flags := modelserver.PiHome(t, r.server)
		r.begin(r.withRalph(env, pi))
		r.run(append([]string{"plugin", "install", "pi", "--yes"}, scope...)...)
		if out := r.run(append([]string{"plugin", "install", "pi"}, scope...)...); !strings.Contains(out, "already") {
			t.Errorf("a second time, it said %s", out)
		}
		r.session(pi, append(flags, "--approve", "--print", "hello")...)
		r.run(append([]string{"plugin", "uninstall", "pi", "--yes"}, scope...)...)
		r.session(pi, append(flags, "--approve", "--print", "hello")...)
		requests := r.server.Requests()
		if len(requests) != 2 {
			t.Fatalf("%d requests", len(requests))
		}
		for i, want := range []bool{true, false} {
			if got := slices.ContainsFunc(requests[i].Tools, func(tool modelserver.Tool) bool { return tool.Name == "ralph_status" }); got != want {
				t.Errorf("%v: request %d offers ralph_status: %t", scope, i+1, got)
			}
			if got := requests[i].Holds("Explains when and how to start a ralph loop"); got != want {
				t.Errorf("%v: request %d names the skill: %t", scope, i+1, got)
			}
		}
	}
}
