//go:build realagents && unix

// These tests run the real Claude Code against a scripted model: run tools/agents/install.sh first,
// then go test -tags realagents ./internal/agent/claude
package claude

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/agenttest"
	"github.com/ralph-loop/ralph/internal/agent/agenttest/modelserver"
	"github.com/ralph-loop/ralph/journal/event"
)

// begin starts the real Claude Code in a session of ours and gives it a prompt.
func begin(t *testing.T, step modelserver.Step) (*agent.Session, *agenttest.Recorder) {
	t.Helper()
	r := agenttest.NewRecorder(t)
	server := modelserver.Start(t, func(modelserver.Request) modelserver.Step { return step })
	dir := t.TempDir()
	s, err := agent.Start(agent.Config{
		Name: "claude", Dialect: New(nil), Env: modelserver.ClaudeHome(t, server), Mark: t.Name() + time.Now().String(), KeepRaw: true, Deliver: r.Deliver,
		Spec: agent.Spec{Command: []string{filepath.Join(modelserver.AgentBin(t), "claude")}, Dir: dir, LoopDir: dir, Iteration: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Kill()
		<-s.Done()
	})
	s.Begin(agent.Prompt{Text: "FIRST-PROMPT", Iteration: 1}, false, 1)
	return s, r
}

// An answer that is cut off at the output limit again and again.
func TestRealClaudeMeetsOutputLimit(t *testing.T) {
	_, r := begin(t, modelserver.Step{Text: "I begin, and", Usage: modelserver.Usage{In: 1000, Out: 100}, Truncated: true})
	r.Await(event.TypeAgentFinished, 1)
	finished := agenttest.Payload[event.AgentFinished](t, r.Of(event.TypeAgentFinished)[0])
	if finished.Outcome != "length" || finished.Kind != event.KindOther || finished.Error == "" {
		t.Errorf("%+v\n%s", finished, r)
	}
}

// A turn that is killed while the model answers keeps the tokens that were reported.
func TestRealClaudeIsKilled(t *testing.T) {
	step := modelserver.Step{Usage: modelserver.Usage{In: 1000, Out: 100}}
	step.Tools = []modelserver.ToolCall{modelserver.Bash("sleep 600")}
	s, r := begin(t, step)
	r.Await(event.TypeToolCalled, 1)
	s.Kill()
	<-s.Done()
	used := r.Of(event.TypeAgentUsed)
	if len(used) != 1 {
		t.Fatalf("%d facts about what was used\n%s", len(used), r)
	}
	if u := agenttest.Payload[event.AgentUsed](t, used[0]); u.In != 1000 || u.USD != nil {
		t.Errorf("%+v", u)
	}
}
