//go:build realagents && unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/agenttest/modelserver"
)

// interviewScript is what the model does in a planning conversation: with an answer of the person,
// or where the requirements are written, it writes the files with a tool; before, it asks.
func interviewScript(req modelserver.Request) modelserver.Step {
	// Codex asks for other things without a shell, too.
	shell := slices.ContainsFunc(req.Tools, func(t modelserver.Tool) bool {
		return slices.Contains([]string{"bash", "shell", "shell_command", "exec_command"}, strings.ToLower(t.Name))
	})
	if aside(req) || !shell || !req.Holds("How the plan is used") {
		return modelserver.Step{Text: "Nothing."}
	}
	switch derives := req.Holds("You derive the stories from them"); {
	case req.Holds("PLAN-WRITTEN"):
		return modelserver.Step{Text: "PLAN-IS-READY"}
	case derives:
		return modelserver.Step{Text: "Deriving.", Tools: []modelserver.ToolCall{modelserver.Bash("cp tasks ralph/tasks.json; echo more >> ralph/prd.md; echo PLAN-''WRITTEN")}}
	case req.Holds("notes-search"):
		return modelserver.Step{Text: "Writing.", Tools: []modelserver.ToolCall{modelserver.Bash("cp prd ralph/prd.md; cp tasks ralph/tasks.json; echo PLAN-''WRITTEN")}}
	}
	return modelserver.Step{Text: "WHAT-IS-IT-ABOUT"}
}

// planner prepares the home of an agent for a person who has used it in this folder before, and
// returns its command and environment.
type planner func(t *testing.T, dir string, s *modelserver.Server) (command string, env []string)

func claudePlans(t *testing.T, dir string, s *modelserver.Server) (string, []string) {
	env := modelserver.ClaudeHome(t, s)
	state, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark",
		"customApiKeyResponses": map[string]any{"approved": []string{"made-up-key"}},
		"projects":              map[string]any{dir: map[string]any{"hasTrustDialogAccepted": true}},
	})
	if err == nil {
		err = os.WriteFile(filepath.Join(valueOf(env, "HOME"), ".claude.json"), state, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(modelserver.AgentBin(t), "claude") + " --allowed-tools=Bash --", env
}

func codexPlans(t *testing.T, dir string, s *modelserver.Server) (string, []string) {
	program, env := modelserver.CodexHome(t, s)
	settings, err := os.OpenFile(filepath.Join(valueOf(env, "CODEX_HOME"), "config.toml"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = fmt.Fprintf(settings, "[notice.model_migrations]\n\"gpt-5.5\" = \"gpt-6-sol\"\n[projects.%q]\ntrust_level = \"trusted\"\n", dir)
		err = errors.Join(err, settings.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopCodexServer(t, program, env) })
	return program + " --dangerously-bypass-approvals-and-sandbox", env
}

// stopCodexServer ends the server for all its terminals that Codex 0.169.0 starts, and the process
// that updates it. Both outlive the terminal.
func stopCodexServer(t *testing.T, program string, env []string) {
	stop := exec.Command(program, "app-server", "daemon", "stop")
	stop.Env = append(os.Environ(), env...)
	if out, err := stop.CombinedOutput(); err != nil {
		t.Errorf("stop the server of Codex: %v: %s", err, out)
	}
	var updater struct{ PID int }
	page, err := os.ReadFile(filepath.Join(valueOf(env, "CODEX_HOME"), "app-server-daemon", "daemon-updater.pid"))
	if err == nil {
		err = json.Unmarshal(page, &updater)
	}
	if err == nil && updater.PID > 1 {
		err = syscall.Kill(updater.PID, syscall.SIGKILL)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("end the updater of Codex: %v", err)
	}
}

func valueOf(env []string, name string) (value string) {
	for _, entry := range env {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v
		}
	}
	return value
}

// plans begins 'ralph plan' with a real agent, in the terminal of a person.
func (p *place) plans(agent planner, args ...string) *terminal {
	command, env := agent(p.T, p.dir, modelserver.Start(p.T, interviewScript))
	cmd := p.command(append([]string{"plan", "--agent", command}, args...)...)
	cmd.Env = append(append(cmd.Env, env...), "RALPH_HOME="+p.home, "HOME="+valueOf(env, "HOME"))
	return p.terminal(cmd)
}

// says types a line as a person does: an agent takes a line that comes at once for a paste, in
// which enter ends nothing.
func (t *terminal) says(line string) {
	t.Helper()
	t.types(line)
	t.shows(line)
	t.types(enter)
}

// Part 8 of the verification plan, with the real agents: without requirements the agent asks, and
// with --from it derives the stories and leaves the requirements as they are.
func TestRealPlan(t *testing.T) {
	for name, agent := range map[string]planner{"claude": claudePlans, "codex": codexPlans} {
		t.Run(name+" asks", func(t *testing.T) {
			p := planPlace(t)
			talk := p.plans(agent)
			talk.shows("WHAT-IS-IT-ABOUT")
			talk.says("notes-search")
			talk.planned()
			if p.file("ralph/prd.md") != plannedPRD {
				t.Error("prd.md is not that of the agent")
			}
		})
		t.Run(name+" derives", func(t *testing.T) {
			p := planPlace(t)
			p.must(os.WriteFile(filepath.Join(p.dir, "mine.md"), []byte(plannedPRD), 0o600))
			talk := p.plans(agent, "--from", "mine.md")
			talk.planned()
			talk.sees("the agent changed ralph/prd.md: it is as it was before")
			if p.file("ralph/prd.md") != plannedPRD || p.file("mine.md") != plannedPRD {
				t.Error("the requirements have changed")
			}
		})
	}
}

// planned waits for the plan, leaves the agent, and checks what it wrote and what ralph says of it.
func (t *terminal) planned() {
	t.Helper()
	t.shows("PLAN-IS-READY")
	t.says("/exit")
	t.leaves(0)
	t.sees("1 story, 0 done; with reviews about 2 to ")
	if t.file("ralph/tasks.json") != plannedTasks {
		t.Error("the stories are not those of the agent")
	}
}
