//go:build realagents && unix

package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agenttest/modelserver"
	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/internal/verb/hook"
	"github.com/ralph-loop/ralph/journal/event"
)

const oneStory = `{"project": "p", "branchName": "b", "description": "d", "verifyCommands": [], "userStories": [
  {"id": "US-001", "title": "t", "description": "", "acceptanceCriteria": ["c"], "priority": 1, "passes": false,
   "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "", "notes": "", "dependsOn": []}]}
`

// hooked prepares the project of a live loop with a committed plan, for an agent whose hooks are
// the settings that the guide shows. It returns those settings, in which ralph is the test's own.
func (r *real) hooked(agent string) (settings string) {
	t := r.t
	t.Helper()
	page := testfile.Read(t, filepath.Join("..", "..", "docs", "guide", "hooks.md"))
	found := regexp.MustCompile("(?s)```json " + agent + "\n(.*?)```").FindSubmatch(page)
	if found == nil {
		t.Fatalf("the guide has no settings for %s", agent)
	}
	r.write("ralph/tasks.json", oneStory)
	r.write(".gitignore", ".ralph/\n.ralph-active\nralph-home/\n.claude/\n")
	for _, args := range [][]string{{"init", "-q"}, {"config", "user.name", "a"}, {"config", "user.email", "a@b"}, {"add", "-A"}, {"commit", "-qm", "all"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = r.project
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	if err := os.MkdirAll(r.dir(), 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := registration.Acquire(r.dir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Release() })
	m := plan.Marker{Dir: r.dir(), ReviewCap: 5, IterationMode: event.ModeImplement, PreIterationSnapshot: map[string]plan.Snapshot{"US-001": {}}}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	r.write(plan.Active, string(text))
	return strings.ReplaceAll(string(found[1]), "ralph hook", r.ralph+" hook")
}

func (r *real) write(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.project, name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// agent runs the agent itself, in the environment of the loop.
func (r *real) agent(program string, args ...string) string {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = r.project, append(r.env, hook.LoopDirVariable+"="+r.dir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s: %v\n%s", program, err, out)
	}
	return string(out)
}

// hookScript is what the model does: a tool, after which the window is 70 percent full; a new file,
// a stop that is held, the commit, and a stop that is not.
func hookScript(window int) modelserver.Script {
	return modelserver.Sequence(
		modelserver.Step{Text: "First.", Tools: []modelserver.ToolCall{modelserver.Bash("echo one")}, Usage: modelserver.Usage{In: window * 7 / 10, Out: 10}},
		modelserver.Step{Text: "Second.", Tools: []modelserver.ToolCall{modelserver.Bash("echo n > notes.txt")}, Usage: modelserver.Usage{In: window * 7 / 10, Out: 10}},
		modelserver.Step{Text: "FIRST-STOP", Usage: modelserver.Usage{In: 1000, Out: 10}},
		modelserver.Step{Text: "Committing.", Tools: []modelserver.ToolCall{modelserver.Bash("git add -A && git commit -qm notes")}, Usage: modelserver.Usage{In: 1000, Out: 10}},
		modelserver.Step{Text: "SECOND-STOP", Usage: modelserver.Usage{In: 1000, Out: 10}},
	)
}

// checkHooked checks what the model read: the warning once and with the next request, and why it
// could not stop.
func (r *real) checkHooked() {
	t := r.t
	t.Helper()
	requests := r.server.Requests()
	if len(requests) != 5 {
		t.Fatalf("%d requests, want 5", len(requests))
	}
	warning := "your context window is 70% full"
	if requests[0].Holds(warning) || !requests[1].Holds(warning) {
		t.Errorf("the warning is in the first request: %v, in the second: %v\n%s", requests[0].Holds(warning), requests[1].Holds(warning), requests[1].Body)
	}
	if n := strings.Count(string(requests[4].Body), warning); n != 1 {
		t.Errorf("the model read the warning %d times", n)
	}
	held := "with uncommitted changes"
	if requests[2].Holds(held) || !requests[3].Holds(held) || !strings.Contains(string(requests[3].Body), "notes.txt") {
		t.Errorf("why it could not stop: %s", requests[3].Body)
	}
	records, err := filepath.Glob(filepath.Join(r.project, "ralph-home", "hooks", "*.json"))
	if err != nil || len(records) != 1 {
		t.Errorf("%v, %v", records, err)
	}
}

func TestRealClaudeHooks(t *testing.T) {
	const window = 1_000_000
	r := newReal(t, hookScript(window))
	r.begin(modelserver.ClaudeHome(t, r.server))
	r.write(".claude/settings.json", r.hooked("claude"))
	out := r.agent(filepath.Join(modelserver.AgentBin(t), "claude"), claudeFlags...)
	if !strings.Contains(out, "SECOND-STOP") {
		t.Errorf("%s", out)
	}
	r.checkHooked()
}

func TestRealCodexHooks(t *testing.T) {
	const window = 258_400
	r := newReal(t, hookScript(window))
	program := r.codexWithHooks()
	out := r.agent(program, codexFlags...)
	if !strings.Contains(out, "SECOND-STOP") {
		t.Errorf("%s", out)
	}
	r.checkHooked()
}

// promiseScript is what the model does in a session loop: it starts the loop, promises without
// work, works, and promises again.
func promiseScript(ralph *string) modelserver.Script {
	usage := modelserver.Usage{In: 1000, Out: 10}
	return func(req modelserver.Request) modelserver.Step {
		switch req.N {
		case 1:
			return modelserver.Step{Text: "Starting.", Tools: []modelserver.ToolCall{modelserver.Bash(*ralph + " session start THE-TASK")}, Usage: usage}
		case 3:
			return modelserver.Step{Text: "Working.", Tools: []modelserver.ToolCall{modelserver.Bash("echo work")}, Usage: usage}
		}
		return modelserver.Step{Text: "<promise>DONE</promise>", Usage: usage}
	}
}

// checkSessionLoop runs an agent in a person's session, and checks that it was held once.
func (r *real) checkSessionLoop(program string, args ...string) {
	t := r.t
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = r.project, r.env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := len(r.server.Requests()); n != 4 {
		t.Errorf("%d requests", n)
	}
	var loops []hook.SessionLoop
	if err := json.Unmarshal([]byte(r.run("session", "status", "--json")), &loops); err != nil || len(loops) != 1 {
		t.Fatalf("%+v, %v", loops, err)
	}
	if l := loops[0]; l.Result != hook.PromiseAccepted || l.Iteration != 1 || l.ToolCalls != 1 || len(l.Decisions) != 2 || l.Decisions[0].Promise != "rejected" {
		t.Errorf("%+v", l)
	}
}

func TestRealClaudeSessionLoop(t *testing.T) {
	var ralph string
	r := newReal(t, promiseScript(&ralph))
	ralph = r.ralph
	r.begin(modelserver.ClaudeHome(t, r.server))
	r.write(".claude/settings.json", r.hooked("claude"))
	r.checkSessionLoop(filepath.Join(modelserver.AgentBin(t), "claude"), claudeFlags...)
}

func TestRealCodexSessionLoop(t *testing.T) {
	var ralph string
	r := newReal(t, promiseScript(&ralph))
	ralph = r.ralph
	program := r.codexWithHooks()
	r.checkSessionLoop(program, codexFlags...)
}

var (
	claudeFlags = []string{"-p", "work", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"}
	codexFlags  = []string{"exec", "--json", "--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox", "work"}
)

// codexWithHooks prepares a home of Codex with the hooks of the guide, and returns the program.
func (r *real) codexWithHooks() (program string) {
	program, env := modelserver.CodexHome(r.t, r.server)
	r.begin(env)
	settings := r.hooked("codex")
	for _, variable := range env {
		if home, ok := strings.CutPrefix(variable, "CODEX_HOME="); ok {
			if err := os.WriteFile(filepath.Join(home, "hooks.json"), []byte(settings), 0o600); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	return program
}

// Claude Code calls another hook after a tool that failed. The same command answers it.
func TestRealClaudeFailedTool(t *testing.T) {
	usage := modelserver.Usage{In: 700_000, Out: 10}
	r := newReal(t, modelserver.Sequence(
		modelserver.Step{Text: "Failing.", Tools: []modelserver.ToolCall{modelserver.Bash("exit 3")}, Usage: usage},
		modelserver.Step{Text: "Done.", Usage: usage},
	))
	r.begin(modelserver.ClaudeHome(t, r.server))
	r.write(".claude/settings.json", strings.Replace(r.hooked("claude"), `"PostToolUse"`, `"PostToolUseFailure"`, 1))
	r.agent(filepath.Join(modelserver.AgentBin(t), "claude"), claudeFlags...)
	requests := r.server.Requests()
	if len(requests) != 2 || !requests[1].Holds("your context window is 70% full") {
		t.Errorf("%d requests, the last: %s", len(requests), requests[len(requests)-1].Body)
	}
}

// refusedScript is what the model does with the guard: it wants to remove the person's home, reads
// why that is refused, and ends.
func refusedScript() modelserver.Script {
	usage := modelserver.Usage{In: 1000, Out: 10}
	return modelserver.Sequence(
		modelserver.Step{Text: "Cleaning.", Tools: []modelserver.ToolCall{modelserver.Bash("touch ran; rm -rf ~/")}, Usage: usage},
		modelserver.Step{Text: "I may not.", Usage: usage},
	)
}

// checkRefused checks that the model read the reason, and that no part of the command ran.
func (r *real) checkRefused() {
	r.t.Helper()
	requests := r.server.Requests()
	if len(requests) != 2 || !requests[1].Holds("ralph's guard") {
		r.t.Errorf("%d requests, the last: %s", len(requests), requests[len(requests)-1].Body)
	}
	if _, err := os.Lstat(filepath.Join(r.project, "ran")); err == nil {
		r.t.Error("the command ran")
	}
}

func TestRealClaudeRefusedCommand(t *testing.T) {
	r := newReal(t, refusedScript())
	r.begin(modelserver.ClaudeHome(t, r.server))
	r.write(".claude/settings.json", r.hooked("claude"))
	r.agent(filepath.Join(modelserver.AgentBin(t), "claude"), claudeFlags...)
	r.checkRefused()
}

func TestRealCodexRefusedCommand(t *testing.T) {
	r := newReal(t, refusedScript())
	r.agent(r.codexWithHooks(), codexFlags...)
	r.checkRefused()
}

// A loop gives Claude Code and Codex ralph's hooks without a plugin, beside those of the person,
// unless --no-guard says otherwise.
func TestRealOwnHooks(t *testing.T) {
	script := func() modelserver.Script {
		return modelserver.Sequence(
			modelserver.Step{Text: "Cleaning.", Tools: []modelserver.ToolCall{modelserver.Bash("touch ran; git push --force origin main")}, Usage: modelserver.Usage{In: 1000, Out: 10}},
			modelserver.Step{Text: "<promise>COMPLETE</promise>", Usage: modelserver.Usage{In: 1000, Out: 10}},
		)
	}
	for name, agent := range map[string]func(*testing.T) (*real, []string){
		"claude": func(t *testing.T) (*real, []string) {
			r, flags := realClaude(t, script())
			r.write(".claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "touch own-hook"}]}]}}`)
			return r, flags
		},
		"codex": func(t *testing.T) (*real, []string) {
			r, flags := realCodex(t, script())
			r.trustCodexHook()
			return r, flags
		},
		"codex exec": func(t *testing.T) (*real, []string) {
			r, flags := realCodex(t, script())
			r.trustCodexHook()
			return r, append(flags, "--agents.codex.flags", "exec")
		},
	} {
		for flag, refused := range map[string]bool{"--guard.hooks=true": true, "--no-guard": false} {
			t.Run(name+" "+flag, func(t *testing.T) {
				r, flags := agent(t)
				r.run(append([]string{"run", "--name", "night", "-m", "1", "-p", "FIRST-PROMPT: clean", "--set", "completion.minToolCalls=0", flag}, flags...)...)
				requests := r.server.Requests()
				if len(requests) != 2 || requests[1].Holds("ralph's guard") != refused {
					t.Errorf("%d requests, the last: %s", len(requests), requests[len(requests)-1].Body)
				}
				if _, err := os.Lstat(filepath.Join(r.project, "ran")); (err != nil) != refused {
					t.Errorf("the command ran: %v", err)
				}
				if _, err := os.Lstat(filepath.Join(r.project, "own-hook")); err != nil {
					t.Errorf("the hook of the person: %v", err)
				}
			})
		}
	}
}

// A profile that sets another PATH keeps Codex from the name ralph, and not from the path that the
// prompt has.
func TestRealCodexLoginShell(t *testing.T) {
	named := regexp.MustCompile("run `([^`]+) ask 'text'`")
	r, flags := realCodex(t, func(req modelserver.Request) modelserver.Step {
		if found := named.FindStringSubmatch(string(req.Body)); found != nil && !req.Holds("ASKED-BY-PATH") {
			return modelserver.Step{Text: "Asking.", Tools: []modelserver.ToolCall{modelserver.Bash("ralph ask 'by its name'; " + found[1] + " ask ASKED-BY-PATH")}}
		}
		return modelserver.Step{Text: "<promise>COMPLETE</promise>"}
	})
	home := t.TempDir()
	testfile.Write(t, filepath.Join(home, ".profile"), "PATH=/usr/bin:/bin\n")
	r.env = append(r.env, "HOME="+home)
	r.run(append([]string{"run", "--name", "night", "-m", "1", "-p", "FIRST-PROMPT"}, flags...)...)
	var asked []string
	for _, e := range r.events() {
		if p, err := event.As[event.QuestionAsked](e); err == nil && e.Type == event.TypeQuestionAsked {
			asked = append(asked, p.Text)
		}
	}
	if !slices.Equal(asked, []string{"ASKED-BY-PATH"}) {
		t.Errorf("asked: %q", asked)
	}
}

// trustCodexHook gives a home of Codex a hook that its person has trusted.
func (r *real) trustCodexHook() {
	for _, variable := range r.env {
		home, ok := strings.CutPrefix(variable, "CODEX_HOME=")
		if !ok {
			continue
		}
		file := filepath.Join(home, "hooks.json")
		err := os.WriteFile(file, []byte(`{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "touch own-hook", "timeout": 7}]}]}}`), 0o600)
		if err != nil {
			r.t.Fatal(err)
		}
		sum := sha256.Sum256([]byte(`{"event_name":"stop","hooks":[{"async":false,"command":"touch own-hook","timeout":7,"type":"command"}]}`))
		config, err := os.OpenFile(filepath.Join(home, "config.toml"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			r.t.Fatal(err)
		}
		_, err = fmt.Fprintf(config, "\n[hooks.state.%q]\ntrusted_hash = \"sha256:%x\"\n", file+":stop:0:0", sum)
		if err = errors.Join(err, config.Close()); err != nil {
			r.t.Fatal(err)
		}
	}
}
