//go:build realagents && unix

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/agenttest/modelserver"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/journal/event"
)

// One loop of each agent, from start to an accepted promise, with nothing in it that depends on
// when something happens: the gate runs it. The other tests of real agents, which steer, stop and
// fail them, are part of discovery.
func TestRealSmoke(t *testing.T) {
	for name, agent := range map[string]func(*testing.T, modelserver.Script) (*real, []string){
		"claude": func(t *testing.T, s modelserver.Script) (*real, []string) { return realClaude(t, s) },
		"codex":  realCodex,
		"pi":     realPi,
	} {
		t.Run(name, func(t *testing.T) {
			r, start := agent(t, besides(writesAndClaims))
			r.run(append([]string{"run", "--name", "night", "-p", "FIRST-PROMPT: write the file"}, start...)...)
			if text, err := os.ReadFile(filepath.Join(r.project, "written")); err != nil || string(text) != "by the agent\n" {
				t.Errorf("the agent's tool wrote %q, %v", text, err)
			}
			s, err := loopstate.Rebuild(r.dir())
			if err != nil {
				t.Fatal(err)
			}
			if s.Lifecycle.Ended == nil || s.Lifecycle.Ended.Reason != event.ReasonPromise || s.Lifecycle.Iteration != 1 {
				t.Errorf("the loop ended as %+v in iteration %d", s.Lifecycle.Ended, s.Lifecycle.Iteration)
			}
			if used := s.Budget.Used(); used.In < 2000 || used.Out < 200 {
				t.Errorf("two requests of 1000 and 100 tokens are accounted for as %+v", used)
			}
			r.run("journal", "verify", "night")
		})
	}
}

// writesAndClaims answers with a tool that writes a file, and then with the promise.
func writesAndClaims(req modelserver.Request) modelserver.Step {
	usage := modelserver.Usage{In: 1000, Out: 100}
	for _, m := range req.Messages {
		if m.Role == modelserver.Assistant {
			return modelserver.Step{Text: "It is written.\n\n<promise>COMPLETE</promise>", Usage: usage}
		}
	}
	return modelserver.Step{Text: "I write it.", Tools: []modelserver.ToolCall{modelserver.Bash("echo by the agent > written")}, Usage: usage}
}
