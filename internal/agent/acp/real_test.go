//go:build realagents && unix

// These tests drive the real agents against a scripted model: run tools/agents/install.sh first, then
// go test -tags realagents -run Real ./internal/agent/acp
package acp_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/acp"
	"github.com/ralph-loop/ralph/internal/agent/agenttest"
	"github.com/ralph-loop/ralph/internal/agent/agenttest/modelserver"
)

// live is one real agent in a session.
type live struct {
	*agent.Session
	*agenttest.Recorder
	t      *testing.T
	server *modelserver.Server
	dir    string
}

// home makes what an agent needs to reach the server.
type home func(testing.TB, *modelserver.Server) (program string, env []string)

func startLive(t *testing.T, name string, home home, script modelserver.Script, change func(*agent.Spec)) *live {
	t.Helper()
	l := &live{Recorder: agenttest.NewRecorder(t), t: t, server: modelserver.Start(t, script), dir: t.TempDir()}
	program, env := home(t, l.server)
	spec := agent.Spec{Command: []string{program}, Dir: l.dir, LoopDir: l.dir, Iteration: 1}
	if os.Getenv("TEELOG") != "" {
		spec.Command = []string{"python3", "/tmp/acp-agents/tee.py", program}
		env = append(env, "TEELOG="+os.Getenv("TEELOG"))
	}
	if change != nil {
		change(&spec)
	}
	var err error
	l.Session, err = agent.Start(agent.Config{
		Name: "acp", Dialect: acp.New(name), Spec: spec, Env: env, Mark: t.Name() + time.Now().String(), KeepRaw: true,
		Deliver: l.Deliver,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.Kill()
		<-l.Done()
		if t.Failed() || os.Getenv("SHOW") != "" {
			for _, d := range l.Drafts() {
				raw := string(d.Raw)
				t.Logf("%s %s\n    %s", d.Type, cutLine(string(d.Data)), cutLine(raw))
			}
		}
	})
	return l
}

func cutLine(s string) string {
	if len(s) > 1500 {
		return s[:1500] + "…"
	}
	return s
}

var _ = context.Background
var _ = strings.Contains

func TestRealProbe(t *testing.T) {
	homes := map[string]home{"opencode": modelserver.OpencodeHome, "copilot": modelserver.CopilotHome, "qwen": modelserver.QwenHome}
	name := os.Getenv("PROBE")
	steps := map[string][]modelserver.Step{
		"401":  {modelserver.Failed(401)},
		"429":  {modelserver.Limited(120 * time.Second)},
		"500":  {modelserver.Failed(500)},
		"tool401": {{Text: "Looking.", Tools: []modelserver.ToolCall{modelserver.Bash("echo one")}, Usage: modelserver.Usage{In: 1000, Out: 50, CacheRead: 600}}, modelserver.Failed(401)},
		"tool": {{Text: "Let me look at it.", Thought: "Hm, think.", Tools: []modelserver.ToolCall{modelserver.Bash("echo one; sleep 1; echo two; sleep 1; echo three")}, Usage: modelserver.Usage{In: 1000, Out: 50, CacheRead: 600}}, {Text: "All done.", Chunks: 3, Usage: modelserver.Usage{In: 1000, Out: 50, CacheRead: 600}}},
	}[os.Getenv("STEP")]
	script := func(r modelserver.Request) modelserver.Step {
		spoken := 0
		for _, m := range r.Messages {
			if m.Role == modelserver.Assistant {
				spoken++
			}
		}
		t.Logf("%s request %d: %d messages, spoken %d, %d tools, model %s: %.300q", time.Now().Format("05.000"), r.N, len(r.Messages), spoken, len(r.Tools), r.Model, func() string { x := r.Messages[len(r.Messages)-1].Text; return x[max(0, len(x)-300):] }())
		if len(r.Tools) == 0 && len(steps[min(spoken, len(steps)-1)].Tools) > 0 {
			return modelserver.Step{Text: "A title"}
		}
		return steps[min(spoken, len(steps)-1)]
	}
	l := startLive(t, name, homes[name], script, func(s *agent.Spec) {
		if name == "qwen" {
			s.Flags = []string{"--auth-type", "openai"}
		}
		s.Model = os.Getenv("MODEL")
	})
	t.Logf("%s begin", time.Now().Format("05.000"))
	l.Begin(agent.Prompt{Text: "FIRST-PROMPT do it", Iteration: 1}, false, 1)
	if os.Getenv("STEER") != "" {
		l.Await("tool.called", 1)
		t.Logf("%s steer: %v", time.Now().Format("05.000"), l.Steer("c1", "STEER-WORD", 1))
	}
	l.Await("agent.finished", 1)
	if os.Getenv("ONE") != "" {
		l.Abort(3)
		return
	}
	l.Release(false, 2)
	l.Refresh()
	l.Begin(agent.Prompt{Text: "SECOND-PROMPT do it", Iteration: 2}, true, 1)
	l.Await("agent.finished", 2)
	l.Abort(3)
}
