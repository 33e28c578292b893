//go:build unix

package executor_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/text"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/effect/executor"
	"github.com/ralph-loop/ralph/internal/testkit/testevent"
	"github.com/ralph-loop/ralph/journal/event"
)

var (
	start   = event.Decided{Do: event.DoStart, Iteration: 1}
	release = event.Decided{Do: event.DoRelease, Iteration: 1}
	abort   = event.Decided{Do: event.DoAbort, Iteration: 1}
	kill    = event.Decided{Do: event.DoKill, Iteration: 1}
)

func TestEffectsRunInOrder(t *testing.T) {
	s := plays(t, "iteration *\n  silence\n  steered -> finish\n").up()
	s.state.Commands.Open = []policy.Message{{ID: "c1", Kind: event.CommandSteer, Text: "mind the gap"}}
	begin := s.do(event.Decided{Do: event.DoBegin, Iteration: 1})
	started := s.do(start)
	s.do(event.Decided{Do: event.DoSteer, Iteration: 1, Command: "c1"})

	if e := s.next(); e.typ != event.TypeIterationStarted || e.cause != begin || e.iter != 1 || e.by != "loop" {
		t.Fatalf("first came %+v", e)
	}
	first := s.next()
	if first.typ != event.TypeAgentStarted || first.cause != started || first.by != "agent:test" || has(first, `"reused"`) {
		t.Fatalf("then came %+v", first)
	}
	if e := s.until(event.TypeCommandDelivered); !e.is(event.CommandDelivered{ID: "c1", How: "live", Iteration: 1}) {
		t.Errorf("the steer was answered by %+v", e)
	}
	s.until(event.TypeAgentFinished)
	released := s.do(release)
	if e := s.until(event.TypeAgentParked); e.cause != released {
		t.Errorf("the release was answered by %+v", e)
	}

	again := s.do(event.Decided{Do: event.DoStart, Iteration: 2})
	second := s.until(event.TypeAgentStarted)
	if second.cause != again || !has(second, `"reused":true`) || pidOf(t, second) != pidOf(t, first) {
		t.Errorf("the second turn: %+v", second)
	}
	if s.agents != 1 {
		t.Errorf("%d agents were asked for", s.agents)
	}
	left := s.rest()
	if n := count(left, event.TypeAgentExited); n != 1 {
		t.Errorf("%d exits were reported: %+v", n, left)
	}
}

func TestProcessWithoutResetIsReplaced(t *testing.T) {
	s := plays(t, "iteration *\n  stale\n  say hello\n").up()
	s.do(start)
	first := s.until(event.TypeAgentStarted)
	s.until(event.TypeAgentFinished)
	s.do(release)
	s.until(event.TypeAgentParked)
	s.do(event.Decided{Do: event.DoStart, Iteration: 2})
	if e := s.until2(event.TypeAgentExited); e.typ != event.TypeAgentExited {
		t.Fatalf("the old process stays: %+v", e)
	}
	second := s.until(event.TypeAgentStarted)
	if pidOf(t, second) == pidOf(t, first) || has(second, `"reused"`) || alive(pidOf(t, first)) {
		t.Errorf("the second turn: %+v", second)
	}
}

func TestParkedProcessBelongsToAgent(t *testing.T) {
	s := plays(t, "iteration *\n  say hello\n")
	var places []int
	configure := s.cfg.Agent
	s.cfg.Agent = func(place int, p agent.Prompt) (agent.Config, error) {
		places = append(places, place) // by the one worker, and read when it is gone
		return configure(place, p)
	}
	s.up()
	s.do(start)
	first := s.until(event.TypeAgentStarted)
	s.until(event.TypeAgentFinished)
	s.do(release)
	s.until(event.TypeAgentParked)

	// A decision to continue the session does not give it to another agent.
	began := s.do(event.Decided{Do: event.DoStart, Iteration: 2, Agent: 1, Same: true})
	if e := s.until2(event.TypeAgentExited); e.cause != began {
		t.Errorf("the first agent's process ended by %+v", e)
	}
	second := s.until(event.TypeAgentStarted)
	if second.cause != began || has(second, `"reused"`) || pidOf(t, second) == pidOf(t, first) || alive(pidOf(t, first)) {
		t.Errorf("the second agent: %+v", second)
	}
	s.until(event.TypeAgentFinished)
	s.do(release)
	s.until(event.TypeAgentParked)
	s.do(event.Decided{Do: event.DoStart, Iteration: 3, Agent: 1})
	if e := s.until(event.TypeAgentStarted); !has(e, `"reused":true`) || pidOf(t, e) != pidOf(t, second) {
		t.Errorf("the second agent again: %+v", e)
	}
	s.rest()
	if len(places) != 2 || places[0] != 0 || places[1] != 1 {
		t.Errorf("the agents %v were asked for", places)
	}
}

// until2 is until for an exit.
func (s *stage) until2(typ event.Type) reported {
	s.t.Helper()
	for {
		if e := s.next(); e.typ == typ {
			return e
		}
	}
}

func TestKillOvertakesRelease(t *testing.T) {
	s := runs(t, "echo ready; exec sleep 1000").up()
	s.do(start)
	s.until(event.TypeAgentSaid)
	s.do(release)
	// The kill overtakes effects that are queued after the release.
	s.do(event.Decided{Do: event.DoSteer, Command: "c1"})
	s.do(kill)
	e := s.until2(event.TypeAgentExited)
	if !has(e, `"signal":"SIGKILL"`) {
		t.Errorf("the exit is %+v", e)
	}
	if e := s.next(); e.typ != event.TypeEffectFailed || !has(e, `"command":"c1"`) {
		t.Errorf("the steer was answered by %+v", e)
	}
	if left := s.rest(); len(left) != 0 {
		t.Errorf("and then came %+v", left)
	}
}

// A process that does not exit after its result is killed, and the loop starts another.
func TestKillEndsCurrentAgentOnly(t *testing.T) {
	s := runs(t, "echo ready; exec sleep 1000").up()
	s.do(start)
	s.until(event.TypeAgentSaid)
	s.do(kill)
	s.until2(event.TypeAgentExited)

	s.do(event.Decided{Do: event.DoStart, Iteration: 2})
	s.until(event.TypeAgentStarted)
	s.until(event.TypeAgentSaid) // an agent that is killed at once says nothing
	aborted := s.do(abort)
	if e := s.until2(event.TypeAgentExited); e.cause != aborted || !has(e, `"signal":"SIGTERM"`) {
		t.Errorf("the second agent ended by %+v", e)
	}
}

func TestKillReachesStartingAgent(t *testing.T) {
	s := runs(t, "exec sleep 1000")
	entered, goOn := make(chan struct{}), make(chan struct{})
	configure := s.cfg.Agent
	s.cfg.Agent = func(place int, p agent.Prompt) (agent.Config, error) {
		close(entered)
		<-goOn
		return configure(place, p)
	}
	s.up()
	s.do(start)
	<-entered
	s.do(kill)
	close(goOn)
	s.until(event.TypeAgentStarted)
	if e := s.until2(event.TypeAgentExited); !has(e, `"signal":"SIGKILL"`) {
		t.Errorf("%+v", e)
	}
}

func TestCloseLeavesNoProcess(t *testing.T) {
	for name, s := range map[string]*stage{
		"one that works":             runs(t, "echo ready; exec sleep 1000"),
		"one that ignores TERM":      runs(t, "trap '' TERM HUP INT; echo ready; sleep 1000; sleep 1000"),
		"one with children":          runs(t, "sleep 1000 & sleep 1000 & echo ready; wait"),
		"one that speaks a protocol": plays(t, "iteration *\n  say ready\n  hang\n"),
	} {
		t.Run(name, func(t *testing.T) {
			s.t = t
			s.up()
			s.do(start)
			pid := pidOf(t, s.until(event.TypeAgentStarted))
			s.until(event.TypeAgentSaid)
			left := s.rest()
			if n := count(left, event.TypeAgentExited); n != 1 {
				t.Errorf("%d exits were reported: %+v", n, left)
			}
			if alive(pid) || alive(-pid) {
				t.Error("something of it is still there")
			}
		})
	}
}

func TestCloseWithoutAgentReturns(t *testing.T) {
	if left := runs(t, "true").up().rest(); len(left) != 0 {
		t.Errorf("%+v", left)
	}
}

func TestEachEffectHasOneAnswer(t *testing.T) {
	quiet := "echo ready; exec sleep 1000"
	for name, row := range map[string]struct {
		before []event.Decided // of which the first starts the agent
		do     event.Decided
		want   event.Payload
	}{
		"a steer without an agent":            {nil, event.Decided{Do: event.DoSteer, Command: "c1"}, event.EffectFailed{Do: event.DoSteer, Command: "c1", Error: "the agent is gone", Class: event.ClassTransient}},
		"a steer of an agent that takes none": {[]event.Decided{start}, event.Decided{Do: event.DoSteer, Command: "c1"}, event.EffectFailed{Do: event.DoSteer, Command: "c1", Error: "the agent takes nothing into a running turn now", Class: event.ClassTransient}},
		"an effect of a later version":        {nil, event.Decided{Do: "moon.raise"}, event.EffectFailed{Do: "moon.raise", Error: "this version of ralph has no such effect", Class: event.ClassTransient}},
	} {
		t.Run(name, func(t *testing.T) {
			s := runs(t, quiet).up()
			for _, d := range row.before {
				s.do(d)
				s.until(event.TypeAgentSaid)
			}
			cause := s.do(row.do)
			if e := s.next(); !e.is(row.want) || e.cause != cause {
				t.Errorf("answered by %+v", e)
			}
			for _, e := range s.rest() {
				if e.typ != event.TypeAgentExited {
					t.Errorf("and by %+v", e)
				}
			}
		})
	}
}

func TestEndWithoutAgentIsUnanswered(t *testing.T) {
	s := runs(t, "true").up()
	s.do(release)
	s.do(abort)
	s.do(kill)
	if left := s.rest(); len(left) != 0 {
		t.Errorf("%+v", left)
	}
}

func TestSteerOfDeadAgent(t *testing.T) {
	s := runs(t, "true").up()
	s.do(start)
	s.until2(event.TypeAgentExited)
	s.do(event.Decided{Do: event.DoSteer, Command: "c1"})
	s.do(release)
	s.do(abort)
	left := s.rest()
	if len(left) != 1 || left[0].typ != event.TypeEffectFailed || !has(left[0], `"command":"c1"`) {
		t.Errorf("%+v", left)
	}
}

func TestAgentStartErrors(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, mode fs.FileMode, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const install = "install the agent, or choose another with --agent; 'ralph doctor' shows what is found"
	const executable = "make the agent's program executable"
	for name, row := range map[string]struct {
		command, dir string
		class        event.Class
		hint         string
		says         string
	}{
		"a name that is nowhere in the PATH":   {"no-such-agent-anywhere", dir, event.ClassMissing, install, `"no-such-agent-anywhere"`},
		"a path to nothing":                    {filepath.Join(dir, "absent"), dir, event.ClassMissing, install, "absent"},
		"a file that may not be run":           {file("plain", 0o600, "#!/bin/sh\n"), dir, event.ClassPermission, executable, "plain"},
		"a folder":                             {dir, dir, event.ClassPermission, executable, dir},
		"a program for no machine":             {file("garbage", 0o700, "\x00\x01\x02"), dir, event.ClassPermission, executable, "garbage"},
		"a script whose interpreter is absent": {file("script", 0o700, "#!/no/such/interpreter\n"), dir, event.ClassMissing, "", "interpreter"},
		"a working folder that is not there":   {"sh", filepath.Join(dir, "gone"), event.ClassMissing, "", "working directory"},
	} {
		t.Run(name, func(t *testing.T) {
			s := set(t, func() agent.Dialect { return text.New() }, row.command)
			configure := s.cfg.Agent
			s.cfg.Agent = func(place int, p agent.Prompt) (agent.Config, error) {
				cfg, err := configure(place, p)
				cfg.Spec.Dir = row.dir
				return cfg, err
			}
			s.up()
			cause := s.do(start)
			e := s.next()
			if e.typ != event.TypeEffectFailed || e.cause != cause {
				t.Fatalf("%+v", e)
			}
			failed := payload[event.EffectFailed](t, e)
			if failed.Do != event.DoStart || failed.Class != row.class || failed.Hint != row.hint || !strings.Contains(failed.Error, row.says) {
				t.Errorf("%+v", failed)
			}
			if left := s.rest(); len(left) != 0 {
				t.Errorf("and then %+v", left)
			}
		})
	}
}

// payload decodes what was reported.
func payload[T event.Payload](t *testing.T, e reported) T {
	t.Helper()
	p, err := event.As[T](testevent.Of(1, time.Time{}, event.Draft{Type: e.typ, Data: []byte(e.data)}))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestInvalidAgentSettingsAreReported(t *testing.T) {
	s := runs(t, "true")
	s.cfg.Agent = func(int, agent.Prompt) (agent.Config, error) { return agent.Config{}, errors.New("no such protocol") }
	s.up()
	s.do(start)
	if e := s.next(); !e.is(event.EffectFailed{Do: event.DoStart, Error: "no such protocol", Class: event.ClassTransient}) {
		t.Errorf("%+v", e)
	}
}

func TestClassesOfErrors(t *testing.T) {
	for class, errs := range map[event.Class][]error{
		event.ClassDisk:       {syscall.ENOSPC, syscall.EROFS, syscall.EDQUOT, syscall.EIO},
		event.ClassMissing:    {fs.ErrNotExist, exec.ErrNotFound, syscall.ENOENT},
		event.ClassPermission: {fs.ErrPermission, syscall.EACCES, syscall.EPERM, syscall.ENOEXEC},
		event.ClassTransient:  {syscall.EAGAIN, syscall.ENOMEM, errors.New("anything else")},
	} {
		for _, err := range errs {
			wrapped := fmt.Errorf("do this: %w", &fs.PathError{Op: "open", Path: "x", Err: err})
			if got := executor.Classify(wrapped); got != class {
				t.Errorf("%v is %s, want %s", err, got, class)
			}
		}
	}
}
