//go:build realagents && linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/agenttest/modelserver"
	"github.com/ralph-loop/ralph/internal/effect/sandbox"
	"github.com/ralph-loop/ralph/journal/event"
)

// The real agents work in each sandbox of Linux: they reach their model, keep their sessions, run
// tools, and cannot write elsewhere.
func TestRealSandbox(t *testing.T) {
	agents := map[string]func(*testing.T, modelserver.Script) (*real, []string){
		"claude": func(t *testing.T, s modelserver.Script) (*real, []string) { return realClaude(t, s) },
		"codex":  realCodex,
		"pi":     realPi,
	}
	for _, mode := range sandbox.Local() {
		for name, agent := range agents {
			t.Run(string(mode)+"/"+name, func(t *testing.T) {
				t.Parallel()
				if err := mode.Check(); err != nil {
					t.Skip(err)
				}
				outside := filepath.Join(t.TempDir(), "outside")
				r, flags := agent(t, besides(modelserver.PerContext(
					modelserver.Step{Text: "On it.", Tools: []modelserver.ToolCall{modelserver.Bash("echo work > made.txt; echo out > '" + outside + "'")}},
					modelserver.Step{Text: "All done.\n\n<promise>COMPLETE</promise>"},
				)))
				for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "one"}} {
					cmd := exec.Command("git", args...)
					cmd.Dir = r.project
					if out, err := cmd.CombinedOutput(); err != nil {
						t.Fatalf("git %v: %v\n%s", args, err, out)
					}
				}
				// The programs of the test are in a folder that the sandbox empties, unlike
				// installed ones.
				r.run(append([]string{"start", "night", "--detach", "--worktree", "--sandbox.mode", string(mode), "--sandbox.read", filepath.Dir(modelserver.AgentBin(t)), "-m", "2", "-p", "BASE-PROMPT"}, flags...)...)
				r.until("the end of the loop's work", func(e event.Event) bool { return e.Type == event.TypeCompletionAccepted })
				if text, err := os.ReadFile(filepath.Join(r.dir(), "worktree", "made.txt")); err != nil || string(text) != "work\n" {
					t.Errorf("the tool made %q, %v", text, err)
				}
				if _, err := os.Stat(outside); err == nil {
					t.Error("the tool wrote outside of the worktree")
				}
			})
		}
	}
}
