//go:build realagents && unix

// These stories run the real agents against a scripted model: run
// tools/agents/install.sh first, then go test -tags realagents ./cmd/ralph.
package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agenttest/modelserver"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// real is one real agent under a detached loop.
type real struct {
	t       *testing.T
	ralph   string
	project string
	env     []string
	server  *modelserver.Server
}

func newReal(t *testing.T, script modelserver.Script) *real {
	t.Helper()
	r := &real{t: t, ralph: filepath.Join(t.TempDir(), "ralph"), project: t.TempDir()}
	if out, err := exec.Command("go", "build", "-o", r.ralph, ".").CombinedOutput(); err != nil {
		t.Fatalf("build ralph: %v\n%s", err, out)
	}
	r.server = modelserver.Start(t, script)
	return r
}

// begin uses the agent's environment with a ralph home of its own.
func (r *real) begin(env []string) {
	home := filepath.Join(r.project, "ralph-home")
	r.env = append(env, "RALPH_HOME="+home)
	r.t.Cleanup(func() { endRunners(home) })
}

// run runs ralph and returns what it printed to stdout.
func (r *real) run(args ...string) string {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.ralph, args...)
	cmd.Dir, cmd.Env = r.project, r.env
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(r.dir(), "runner.log"))
		r.t.Fatalf("ralph %s: %v\n%s%s%s", strings.Join(args, " "), err, out, stderr.String(), log)
	}
	return string(out)
}

func (r *real) dir() string { return filepath.Join(r.project, ".ralph", "night") }

// until follows the journal from its beginning to the first event that fits.
func (r *real) until(what string, fits func(event.Event) bool) event.Event {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	for e, err := range journal.Follow(ctx, r.dir(), journal.FollowOptions{}) {
		if err != nil {
			r.t.Fatal(err)
		}
		if fits(e) {
			return e.Clone()
		}
		if e.Type == event.TypeLoopEnded {
			r.t.Fatalf("the loop ended before %s: %s", what, e.Data())
		}
	}
	r.t.Fatalf("no %s within a minute", what)
	return event.Event{}
}

// waitTool is a command that runs until the test makes the file "go" in the project.
const waitTool = `echo tool-begins; until [ -e go ]; do sleep 0.05; done; echo tool-ends`

// twoIterations answers like this: in the first context a tool that waits, then words without a
// claim; in the second a tool, then the promise.
func twoIterations(t *testing.T) modelserver.Script {
	return func(req modelserver.Request) modelserver.Step {
		spoken := 0
		for _, m := range req.Messages {
			if m.Role == modelserver.Assistant {
				spoken++
			}
		}
		usage := modelserver.Usage{In: 1000, Out: 100}
		second := req.Holds("SECOND-WORD")
		switch {
		case spoken == 0 && second:
			return modelserver.Step{Text: "Looking again.", Tools: []modelserver.ToolCall{modelserver.Bash("echo again")}, Usage: usage}
		case spoken == 0:
			return modelserver.Step{Text: "FIRST-ANSWER", Tools: []modelserver.ToolCall{modelserver.Bash(waitTool)}, Usage: usage}
		case second:
			return modelserver.Step{Text: "All done.\n\n<promise>COMPLETE</promise>", Usage: usage}
		}
		return modelserver.Step{Text: "I heard you; more to do.", Usage: usage}
	}
}

// steerTwoIterations is the story that each agent has to live through: a detached
// loop, a steer in the middle of a tool that reaches the model, a second iteration with
// a fresh context, completion.
func (r *real) steerTwoIterations(start ...string) {
	t := r.t
	r.run(append([]string{"start", "night", "--detach", "-p", "FIRST-PROMPT: do the task"}, start...)...)
	r.until("the tool's call", func(e event.Event) bool { return e.Type == event.TypeToolCalled })
	steer := r.run("steer", "--loop", "night", "--wait", "0s", "--json", "STEER-WORD use the other branch")
	var fate fate
	if err := json.Unmarshal([]byte(steer), &fate); err != nil {
		t.Fatalf("steer said %q: %v", steer, err)
	}
	r.run("follow-up", "--loop", "night", "--wait", "0s", "SECOND-WORD then the docs")
	r.until("the steer's decision", func(e event.Event) bool {
		return e.Type == event.TypeDecided && strings.Contains(string(e.Data()), fate.ID)
	})
	if err := os.WriteFile(filepath.Join(r.project, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	delivered := r.until("the steer's delivery", func(e event.Event) bool {
		return e.Type == event.TypeCommandDelivered && strings.Contains(string(e.Data()), fate.ID)
	})
	if p, err := event.As[event.CommandDelivered](delivered); err != nil || p.How != "live" || delivered.Iter != 1 {
		t.Errorf("the steer was delivered as %s in iteration %d", delivered.Data(), delivered.Iter)
	}
	r.until("the end", func(e event.Event) bool { return e.Type == event.TypeLoopEnded })
	r.checkRequests()
	r.checkState()
	r.run("journal", "verify", "night")
}

// checkRequests holds what the model was sent against what it should have been.
func (r *real) checkRequests() {
	t := r.t
	requests := r.server.Requests()
	var first, second int
	steered := false
	for _, req := range requests {
		if req.Holds("SECOND-WORD") {
			second++
			for _, stale := range []string{"STEER-WORD", "FIRST-ANSWER", "tool-begins"} {
				if strings.Contains(string(req.Body), stale) {
					t.Errorf("a request of the second iteration holds %q of the first", stale)
				}
			}
			continue
		}
		first++
		if req.Holds("STEER-WORD") {
			steered = true
			if !req.Holds("tool-ends") {
				t.Error("the steer reached the model before the tool's end")
			}
		}
	}
	if first < 2 || second != 2 || !steered {
		t.Errorf("%d requests in the first iteration, %d in the second, steer reached the model: %v", first, second, steered)
	}
}

// checkState holds the loop's own account against the model's.
func (r *real) checkState() {
	t := r.t
	s, err := projector.Rebuild(r.dir())
	if err != nil {
		t.Fatal(err)
	}
	if s.Life.Ended == nil || s.Life.Ended.Reason != event.ReasonPromise || s.Life.Iteration != 2 {
		t.Fatalf("the loop ended as %+v in iteration %d", s.Life.Ended, s.Life.Iteration)
	}
	n := int64(len(r.server.Requests()))
	if used := s.Budget.Used(); used.In != 1000*n || used.Out != 100*n || used.USD == nil || *used.USD <= 0 {
		t.Errorf("%d requests of 1000 and 100 tokens are accounted for as %+v", n, used)
	}
}

func TestRealPi(t *testing.T) {
	r := newReal(t, twoIterations(t))
	env, flags := modelserver.PiHome(t, r.server)
	r.begin(env)
	// --no-session is the dialect's own; the model is what the loop has to choose.
	r.steerTwoIterations("--agent", filepath.Join(modelserver.AgentBin(t), "pi"), "--model", flags[len(flags)-1])
}

func TestRealClaude(t *testing.T) {
	r := newReal(t, twoIterations(t))
	r.begin(modelserver.ClaudeHome(t, r.server))
	r.steerTwoIterations("--agent", filepath.Join(modelserver.AgentBin(t), "claude"), "--set", "agent.passKeys=true")
}
