//go:build realagents && unix

// These tests run the real Codex against a scripted model: run tools/agents/install.sh first, then
// go test -tags realagents ./internal/agent/codex
package codex

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/agenttest"
	"github.com/ralph-loop/ralph/internal/agent/agenttest/modelserver"
	"github.com/ralph-loop/ralph/journal/event"
)

// session is the real Codex in a session of ours.
type session struct {
	*agent.Session
	*agenttest.Recorder
	t      *testing.T
	pipe   *os.File // the sleeper's
	server *modelserver.Server
}

func start(t *testing.T, script modelserver.Script, purpose string, flags ...string) *session {
	t.Helper()
	s := &session{Recorder: agenttest.NewRecorder(t), t: t, server: modelserver.Start(t, script)}
	program, env := modelserver.CodexHome(t, s.server)
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pid")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.pipe, err = os.OpenFile(pipe, os.O_RDWR, 0); err != nil { // for both, which does not block
		t.Fatal(err)
	}
	t.Cleanup(func() { s.pipe.Close() })
	s.Session, err = agent.Start(agent.Config{
		Name: "codex", Dialect: New(Native, nil), Env: env, Mark: t.Name() + time.Now().String(), KeepRaw: true, Deliver: s.Deliver, Now: time.Now,
		Spec: agent.Spec{Command: []string{program}, Flags: flags, Dir: dir, LoopDir: dir, Iteration: 1, Purpose: purpose},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Kill()
		<-s.Done()
	})
	s.Begin(agent.Prompt{Text: "FIRST-PROMPT", Iteration: 1, Purpose: purpose}, false, 1)
	return s
}

func (s *session) finished(n int) event.AgentFinished {
	s.t.Helper()
	return agenttest.Payload[event.AgentFinished](s.t, s.Await(event.TypeAgentFinished, n))
}

// sleeper is a tool that writes its process id to a named pipe and stays. Codex 0.169.0 reports
// none of a tool's output before it yields.
const sleeper = `echo $$ > pid; exec sleep 600`

// left waits for the sleeper and returns its process.
func (s *session) left() int {
	s.t.Helper()
	if err := s.pipe.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		s.t.Fatal(err)
	}
	line, err := bufio.NewReader(s.pipe).ReadString('\n')
	if err != nil {
		s.t.Fatalf("the tool does not begin: %v\n%s", err, s.Recorder)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || syscall.Kill(pid, 0) != nil {
		s.t.Fatalf("the tool is not at work: %q, %v", line, err)
	}
	return pid
}

// gone: a process that has ended and was not waited for yet has a state all the same.
func (s *session) gone(pid int) {
	s.t.Helper()
	state, _ := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output() // fails where there is no such process
	if state := strings.TrimSpace(string(state)); state != "" && !strings.HasPrefix(state, "Z") {
		s.t.Errorf("the tool's process %d is still there, in state %s", pid, state)
	}
}

func asleep() modelserver.Script {
	return modelserver.Sequence(modelserver.Step{Text: "I look.", Tools: []modelserver.ToolCall{modelserver.Bash(sleeper)}})
}

func TestRealStopInMidTool(t *testing.T) {
	for name, flags := range map[string][]string{"app-server": nil, "exec": {"exec"}} {
		t.Run(name, func(t *testing.T) {
			s := start(t, asleep(), "", flags...)
			pid := s.left()
			s.Abort(7)
			s.gone(pid)
			if name == "exec" { // which says nothing when it is asked to end
				if n := len(s.Of(event.TypeAgentFinished)); n != 0 {
					t.Errorf("finished %d times", n)
				}
				return
			}
			if p := s.finished(1); p.Outcome != "aborted" {
				t.Errorf("%+v", p)
			}
			exit := agenttest.Payload[event.AgentExited](t, s.Of(event.TypeAgentExited)[0])
			if exit.Code != 0 || exit.Signal != "" || exit.Strays != 0 {
				t.Errorf("%+v", exit)
			}
		})
	}
}

func TestRealKillLeavesNothingBehind(t *testing.T) {
	s := start(t, asleep(), "")
	pid := s.left()
	s.Kill()
	<-s.Done()
	s.gone(pid)
	if exit := agenttest.Payload[event.AgentExited](t, s.Of(event.TypeAgentExited)[0]); exit.Signal != "SIGKILL" {
		t.Errorf("%+v", exit)
	}
}

// leaving yields a command that keeps running, and ends the turn.
func leaving() modelserver.Script {
	return modelserver.PerContext(
		modelserver.Step{Text: "I look.", Tools: []modelserver.ToolCall{{
			Name: "exec_command", Args: map[string]any{"cmd": sleeper, "yield_time_ms": 250},
		}}},
		modelserver.Step{Text: "It goes on without me."},
		modelserver.Step{Text: "I remember."},
	)
}

func TestRealTerminalsEndWithTurn(t *testing.T) {
	s := start(t, leaving(), "")
	pid := s.left()
	if p := s.finished(1); p.Outcome != "ok" {
		t.Errorf("%+v", p)
	}
	s.Release(false, 5)
	s.gone(pid)
	if n := len(s.Of(event.TypeAgentParked)); n != 1 {
		t.Errorf("parked %d times", n)
	}
}

func TestRealContexts(t *testing.T) {
	for name, same := range map[string]bool{"fresh": false, "same": true} {
		t.Run(name, func(t *testing.T) {
			s := start(t, modelserver.PerContext(modelserver.Step{Text: "FIRST-ANSWER"}, modelserver.Step{Text: "I remember."}), "")
			s.finished(1)
			s.Release(same, 5)
			if !same && !s.Refresh() {
				t.Fatal("no fresh context")
			}
			s.Begin(agent.Prompt{Text: "SECOND-PROMPT", Iteration: 2}, true, 9)
			s.finished(2)
			requests := s.server.Requests()
			if len(requests) != 2 || !requests[1].Holds("SECOND-PROMPT") {
				t.Fatalf("%d requests", len(requests))
			}
			for _, old := range []string{"FIRST-PROMPT", "FIRST-ANSWER"} {
				if requests[1].Holds(old) != same || strings.Contains(string(requests[1].Body), old) != same {
					t.Errorf("holds %q: %v", old, !same)
				}
			}
			s.Release(false, 11)
			s.Abort(13)
		})
	}
}

func TestRealSteerCutsAnswer(t *testing.T) {
	hold := make(chan struct{})
	defer close(hold)
	s := start(t, modelserver.Sequence(
		modelserver.Step{Text: "This would be long.", UntilEnd: hold},
		modelserver.Step{Text: "As you wish."},
	), "")
	s.Await(event.TypeAgentSaid, 1)
	if err := s.Steer("c1", "STEER-WORD", 3); err != nil {
		t.Fatal(err)
	}
	if delivered := s.Await(event.TypeCommandDelivered, 1); delivered.Cause != 3 {
		t.Errorf("the cause is %d", delivered.Cause)
	}
	if p := s.finished(1); p.Outcome != "ok" {
		t.Errorf("%+v", p)
	}
	requests := s.server.Requests()
	if len(requests) != 2 || !requests[1].Holds("STEER-WORD") {
		t.Errorf("%d requests, and the steer did not reach the second", len(requests))
	}
	said := s.Of(event.TypeAgentSaid)
	last := agenttest.Payload[event.AgentSaid](t, said[len(said)-1])
	if first := agenttest.Payload[event.AgentSaid](t, said[0]); first.Block == last.Block || !last.Final {
		t.Errorf("the final message is %+v, the one that was cut off %+v", last, first)
	}
}

func TestRealSettingsReachModel(t *testing.T) {
	s := start(t, modelserver.Sequence(modelserver.Step{Text: "Done."}), "", "-c", `model_reasoning_effort="low"`, "-m", "gpt-5.4")
	if p := s.finished(1); p.Outcome != "ok" {
		t.Errorf("%+v", p)
	}
	request := s.server.Requests()[0]
	if request.Model != "gpt-5.4" || !strings.Contains(string(request.Body), `"effort":"low"`) {
		t.Errorf("model %s, and the effort is not the one that was set", request.Model)
	}
	for _, tool := range request.Tools {
		if tool.Name == "create_goal" {
			t.Error("the model may begin turns by itself")
		}
	}
}

func TestRealMissingServer(t *testing.T) {
	provider := "model_providers." + modelserver.CodexProvider
	s := start(t, modelserver.Sequence(), "", "-c", provider+`.base_url="http://127.0.0.1:1/v1"`, "-c", provider+".stream_max_retries=1")
	if p := s.finished(1); p.Outcome != "error" || p.Kind != "network" {
		t.Errorf("%+v", p)
	}
	if retried := s.Of(event.TypeAgentRetried); len(retried) != 1 {
		t.Errorf("tried again %d times", len(retried))
	}
}

// A fault has one kind, with the app-server and with exec.
func TestRealFaultsInBothModes(t *testing.T) {
	reset := time.Now().Add(26 * time.Hour).Truncate(time.Minute)
	for name, row := range map[string]struct {
		step modelserver.Step
		kind event.FaultKind
	}{
		"a refusal":                        {modelserver.Step{Text: "half", Refused: true}, event.KindRefusal},
		"a prompt that was flagged":        {modelserver.Step{Fault: "cyber_policy", Message: "This request has been flagged for possible cybersecurity risk."}, event.KindRefusal},
		"a conversation that is too long":  {modelserver.Step{Fault: "context_length_exceeded", Message: "no"}, event.KindContext},
		"an account that has nothing left": {modelserver.Step{Fault: "insufficient_quota", Message: "no"}, event.KindQuota},
		"a model that has no room":         {modelserver.Step{Fault: "server_is_overloaded", Message: "no"}, event.KindOverload},
		"a request too many":               {modelserver.Step{Fault: "rate_limit_exceeded", Message: "try again in 0.1s"}, event.KindRate},
		"a key that is none":               {modelserver.Failed(401), event.KindAuth},
		"a stream that broke":              {modelserver.Step{Fault: "unheard_of", Message: "no"}, event.KindNetwork},
		"a share that is used up": {modelserver.Step{
			Status: 429, Body: fmt.Sprintf(`{"error":{"type":"usage_limit_reached","message":"no","plan_type":"plus","resets_at":%d}}`, reset.Unix()),
		}, event.KindRate},
	} {
		for mode, flags := range map[string][]string{"app-server": nil, "exec": {"exec"}} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				flags := append(flags[:len(flags):len(flags)], "-c", "model_providers."+modelserver.CodexProvider+".stream_max_retries=1")
				s := start(t, func(modelserver.Request) modelserver.Step { return row.step }, "", flags...)
				if p := s.finished(1); p.Kind != row.kind || p.Outcome == "ok" {
					t.Errorf("%+v, want kind %q", p, row.kind)
				}
				if row.step.Status != 429 {
					return
				}
				limited := s.Of(event.TypeAgentLimited)
				if len(limited) != 1 {
					t.Fatalf("limited %d times", len(limited))
				}
				p := agenttest.Payload[event.AgentLimited](t, limited[0])
				if want := reset.Add(time.Minute).UTC().Format(time.RFC3339); p.Until != want {
					t.Errorf("until %s, want %s: %s", p.Until, want, p.Text)
				}
			})
		}
	}
}

// Codex waits in silence for as long as a retry-after says: that the turn is held up has been
// reported by then.
func TestRealRetryIsNoHang(t *testing.T) {
	for mode, flags := range map[string][]string{"app-server": nil, "exec": {"exec"}} {
		t.Run(mode, func(t *testing.T) {
			s := start(t, func(modelserver.Request) modelserver.Step { return modelserver.Limited(time.Hour) }, "", flags...)
			if p := agenttest.Payload[event.AgentLimited](t, s.Await(event.TypeAgentLimited, 1)); p.Kind != event.KindRate {
				t.Errorf("%+v", p)
			}
			s.Await(event.TypeAgentRetried, 1)
			if n := len(s.Of(event.TypeAgentFinished)); n != 0 {
				t.Errorf("finished %d times", n)
			}
		})
	}
}

func TestRealCommitMessage(t *testing.T) {
	s := start(t, modelserver.Sequence(modelserver.Step{Text: "<response>Add a door</response>", Usage: modelserver.Usage{In: 100, CacheRead: 40, Out: 7}}), agent.PurposeMessage)
	if p := s.finished(1); p.Outcome != "ok" {
		t.Errorf("%+v", p)
	}
	<-s.Done()
	started := agenttest.Payload[event.AgentStarted](t, s.Of(event.TypeAgentStarted)[0])
	if started.Live || started.Argv[1] != "exec" {
		t.Errorf("%+v", started)
	}
	if said := agenttest.Payload[event.AgentSaid](t, s.Of(event.TypeAgentSaid)[0]); said.Text.String() != "<response>Add a door</response>" {
		t.Errorf("said %q", said.Text)
	}
	used := s.Of(event.TypeAgentUsed)
	if len(used) != 1 {
		t.Fatalf("used %d times", len(used))
	}
	if p := agenttest.Payload[event.AgentUsed](t, used[0]); p.In != 100 || p.CacheRead != 40 || p.Out != 7 || p.USD != nil {
		t.Errorf("%+v", p)
	}
	if exit := agenttest.Payload[event.AgentExited](t, s.Of(event.TypeAgentExited)[0]); exit.Code != 0 {
		t.Errorf("%+v", exit)
	}
}
