//go:build realagents && unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agenttest/modelserver"
	"github.com/ralph-loop/ralph/journal/event"
)

// realHomes returns a function for each way to run each real agent. It makes the agent's
// environment and returns the arguments of `ralph start`.
func realHomes() map[string]func(testing.TB, *modelserver.Server) (start, env []string) {
	homes := map[string]func(testing.TB, *modelserver.Server) (start, env []string){
		"pi": func(tb testing.TB, s *modelserver.Server) (start, env []string) {
			env, flags := modelserver.PiHome(tb, s)
			return []string{"--agent", filepath.Join(modelserver.AgentBin(tb), "pi"), "--model", flags[len(flags)-1]}, env
		},
		"claude": func(tb testing.TB, s *modelserver.Server) (start, env []string) {
			return []string{"--agent", filepath.Join(modelserver.AgentBin(tb), "claude"), "--set", "agents.claude.passKeys=true"}, modelserver.ClaudeHome(tb, s)
		},
		"codex": func(tb testing.TB, s *modelserver.Server) (start, env []string) {
			program, env := modelserver.CodexHome(tb, s)
			return []string{"--agent", program}, env
		},
		"codex exec": func(tb testing.TB, s *modelserver.Server) (start, env []string) {
			program, env := modelserver.CodexHome(tb, s)
			return []string{"--agent", program + " exec"}, env
		},
		"an old codex": func(tb testing.TB, s *modelserver.Server) (start, env []string) {
			_, env = modelserver.CodexHome(tb, s)
			return []string{"--agent", modelserver.OldCodex(tb)}, env
		},
		"qwen as claude": func(tb testing.TB, s *modelserver.Server) (start, env []string) {
			command, env := acpHomes["qwen"](tb, s)
			return []string{"--agent", command, "--protocol", "claude"}, env
		},
	}
	for name, home := range acpHomes {
		homes[name] = func(tb testing.TB, s *modelserver.Server) (start, env []string) {
			command, env := home(tb, s)
			return []string{"--agent", command}, env
		}
	}
	return homes
}

// A loop that is stopped or killed in mid-tool leaves no process of the agent or of its tool, which
// most agents run in a session of its own. The journal contains nothing twice and misses nothing.
func TestRealEndsLeaveNothing(t *testing.T) {
	for name, home := range realHomes() {
		for _, verb := range [][]string{{"stop", "night", "--now"}, {"kill", "night"}} {
			t.Run(name+", "+verb[0], func(t *testing.T) {
				const tool = `echo $$ > tool.pid; ` + waitTool
				r := newReal(t, besides(func(modelserver.Request) modelserver.Step {
					return modelserver.Step{Text: "FIRST-ANSWER", Tools: []modelserver.ToolCall{modelserver.Bash(tool)}}
				}))
				start, env := home(t, r.server)
				r.begin(env)
				r.run(append([]string{"start", "night", "--detach", "-p", "FIRST-PROMPT: do the task"}, start...)...)
				r.until("the tool's call", func(e event.Event) bool { return e.Type == event.TypeToolCalled })
				left := append(inGroup(t, r.started().PID), r.pid("tool.pid"))
				r.run(verb...)
				r.until("the end", func(e event.Event) bool { return e.Type == event.TypeLoopEnded })
				for _, pid := range left {
					if err := syscall.Kill(pid, 0); err == nil {
						t.Errorf("of %v, the process %d is still there", left, pid)
					}
				}
				r.checkEnd(event.Reason(verb[0]), verb[0] == "stop" && !strings.Contains(name, "exec") && !strings.Contains(name, "old"))
				r.run("journal", "verify", "night")
			})
		}
	}
}

// An agent that has a protocol also works as a plain program: it works without asking, and prints
// its answer.
func TestRealPlainText(t *testing.T) {
	for _, name := range []string{"claude", "codex"} {
		t.Run(name, func(t *testing.T) {
			work := modelserver.PerContext(
				modelserver.Step{Text: "On it.", Tools: []modelserver.ToolCall{modelserver.Bash("echo work > made.txt")}},
				modelserver.Step{Text: "All done.\n\n<promise>COMPLETE</promise>"},
			)
			r := newReal(t, work)
			start, env := realHomes()[name](t, r.server)
			r.begin(env)
			stderr, code := r.exits(append(start, "--protocol", "text", "--set", "completion.minToolCalls=0")...)
			if code != 0 {
				t.Errorf("ralph ended with %d: %s", code, stderr)
			}
			if made, err := os.ReadFile(filepath.Join(r.project, "made.txt")); err != nil || string(made) != "work\n" {
				t.Errorf("the tool made %q, %v", made, err)
			}
		})
	}
}

// checkEnd checks what the journal reports of an end in mid-tool: one process, one exit, and no
// call without its return. An agent that is killed, or that knows only signals, reports no return:
// then asked is false.
func (r *real) checkEnd(reason event.Reason, asked bool) {
	r.t.Helper()
	count := map[event.Type]int{}
	open := map[string]bool{}
	var ended event.LoopEnded
	for _, e := range r.events() {
		count[e.Type]++
		var err error
		switch e.Type {
		case event.TypeToolCalled:
			var p event.ToolCalled
			p, err = event.As[event.ToolCalled](e)
			open[p.ID] = true
		case event.TypeToolReturned:
			var p event.ToolReturned
			p, err = event.As[event.ToolReturned](e)
			delete(open, p.ID)
		case event.TypeLoopEnded:
			ended, err = event.As[event.LoopEnded](e)
		}
		if err != nil {
			r.t.Error(err)
		}
	}
	if count[event.TypeAgentStarted] != 1 || count[event.TypeAgentExited] != 1 {
		r.t.Errorf("%d processes began and %d ended", count[event.TypeAgentStarted], count[event.TypeAgentExited])
	}
	if ended.Status != event.StatusStopped || ended.Reason != reason {
		r.t.Errorf("the loop ended as %+v", ended)
	}
	if asked && len(open) > 0 {
		r.t.Errorf("calls without a return: %v", open)
	}
}

// started is the agent's first start.
func (r *real) started() event.AgentStarted {
	r.t.Helper()
	p, err := event.As[event.AgentStarted](r.until("the agent's start", func(e event.Event) bool { return e.Type == event.TypeAgentStarted }))
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

// inGroup returns the processes of an agent's group: a launcher has the program itself as a child.
func inGroup(t *testing.T, leader int) (pids []int) {
	t.Helper()
	table, err := exec.Command("ps", "-A", "-o", "pid=,pgid=").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(table)) {
		var pid, group int
		if _, err := fmt.Sscan(line, &pid, &group); err == nil && group == leader {
			pids = append(pids, pid)
		}
	}
	if !slices.Contains(pids, leader) {
		t.Fatalf("the agent %d leads no group", leader)
	}
	return pids
}

// pid waits for a file of the project that holds a process's id.
func (r *real) pid(name string) int {
	r.t.Helper()
	limit := time.After(time.Minute)
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for {
		text, _ := os.ReadFile(filepath.Join(r.project, name))
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			return pid
		}
		select {
		case <-look.C:
		case <-limit:
			r.t.Fatalf("no %s within a minute", name)
		}
	}
}

// A command can write outside of the project if everything is permitted, and cannot if the agent
// may only work in its folder. Only these agents can enforce that.
func TestRealPermissions(t *testing.T) {
	homes := realHomes()
	for _, name := range []string{"claude", "codex", "codex exec", "gemini", "qwen", "copilot"} {
		home, ok := homes[name]
		if !ok {
			t.Fatalf("these tests have no agent %s", name)
		}
		for _, permissions := range []string{"full", "workspace", "ask"} {
			t.Run(name+", "+permissions, func(t *testing.T) {
				outside, err := os.MkdirTemp("/var/tmp", "ralph-outside-") // Codex lets write into /tmp and TMPDIR, where the checkout may be
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { os.RemoveAll(outside) })
				made, err := filepath.Abs(filepath.Join(outside, "made"))
				if err != nil {
					t.Fatal(err)
				}
				r := newReal(t, besides(func(req modelserver.Request) modelserver.Step {
					for _, m := range req.Messages {
						if m.Role == modelserver.Assistant {
							return modelserver.Step{Text: "I tried."}
						}
					}
					return modelserver.Step{Tools: []modelserver.ToolCall{modelserver.Bash("echo x > '" + made + "'")}}
				}))
				start, env := home(t, r.server)
				r.begin(env)
				r.run(append([]string{"start", "night", "--detach", "-m", "1", "-p", "FIRST-PROMPT", "--set", "agents." + strings.Fields(name)[0] + ".permissions=" + permissions}, start...)...)
				r.until("the end", func(e event.Event) bool { return e.Type == event.TypeLoopEnded })
				_, err = os.Stat(made)
				if full := permissions == "full"; (err == nil) != full {
					t.Errorf("the file is there: %v", err == nil)
				}
			})
		}
	}
}
