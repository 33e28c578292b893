package agenttest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/journal/event"
)

// Processes runs the checks that start a process.
func Processes(t *testing.T, a Agent) {
	for _, check := range []struct {
		name string
		run  func(*testing.T, Agent)
	}{
		{"a program that is missing is an error", checkMissing},
		{"an agent that is dead on arrival", checkDead},
		{"an end without a result", checkQuits},
		{"an end in the middle of a line", checkHalf},
		{"a turn and a polite ending", checkHonest},
		{"a result without an end", checkStays},
		{"an agent that ignores TERM", checkStubborn},
		{"an abort in mid-turn", checkSessionAbort},
		{"a kill in mid-turn", checkKill},
		{"a steer in mid-turn", checkSessionSteer},
		{"a second turn in the same process", func(t *testing.T, a Agent) { checkReuse(t, a, roleHonest) }},
		{"a second turn with a launcher", func(t *testing.T, a Agent) { checkReuse(t, a, roleLauncher) }},
		{"a process that outlives the turn", checkOrphan},
	} {
		t.Run(check.name, func(t *testing.T) {
			t.Parallel()
			check.run(t, a)
		})
	}
}

// patience is short for roles that do not answer, and otherwise longer than a loaded machine needs.
func patience(role string) agent.Patience {
	p := agent.Patience{Abort: deadline, Stop: deadline, Term: deadline}
	switch role {
	case roleStays:
		p.Stop = 50 * time.Millisecond
	case roleStubborn:
		p.Stop, p.Term = 50*time.Millisecond, 50*time.Millisecond
	}
	return p
}

// run is a session with a process that plays a role.
type run struct {
	*agent.Session
	*Recorder
	t   testing.TB
	a   Agent
	dir string // in which the agent works
}

// start starts this binary as the agent and gives it a prompt.
func start(t testing.TB, a Agent, role, prompt string) *run {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &run{Recorder: NewRecorder(t), t: t, a: a}
	cfg := config(t, a, self, role, prompt, r.Recorder)
	r.dir = cfg.Spec.Dir
	r.Session, err = agent.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Kill()
		<-r.Done()
	})
	r.Begin(agent.Prompt{Text: prompt, Iteration: 1}, false, 1)
	return r
}

func config(t testing.TB, a Agent, program, role, prompt string, rec *Recorder) agent.Config {
	spec := a.Spec(program)
	spec.Dir = t.TempDir()
	spec.LoopDir, spec.Iteration, spec.Prompt = filepath.Join(spec.Dir, ".ralph", "test"), 1, prompt
	return agent.Config{
		Name: "test", Dialect: a.New(), Spec: spec, Patience: patience(role), KeepRaw: true,
		Env:  append(os.Environ(), roleVariable+"="+role),
		Mark: t.Name() + time.Now().String(), Deliver: rec.Deliver,
	}
}

// over waits for the end of the process, checks the frame that every life has, and
// returns how it ended.
func (r *run) over(finished int) event.AgentExited {
	r.t.Helper()
	select {
	case <-r.Done():
	case <-time.After(deadline):
		r.t.Fatalf("the process does not end\n%s", r.Recorder)
	}
	drafts := r.Drafts()
	if drafts[0].Type != event.TypeAgentStarted {
		r.t.Errorf("begins with %s", drafts[0].Type)
	}
	if n := len(r.Of(event.TypeAgentExited)); n != 1 {
		r.t.Errorf("%d ends of one process", n)
	}
	if n := len(r.Of(event.TypeAgentFinished)); n != finished {
		r.t.Errorf("%d turns finished, want %d\n%s", n, finished, r.Recorder)
	}
	return Payload[event.AgentExited](r.t, drafts[len(drafts)-1])
}

// ends is how many AgentFinished a turn that is over has.
func (r *run) ends() int {
	if r.exitEnds() {
		return 0
	}
	return 1
}

func (r *run) exitEnds() bool {
	return Payload[event.AgentStarted](r.t, r.Await(event.TypeAgentStarted, 1)).ExitEnds
}

// turn waits until a turn that finishes by itself has.
func (r *run) turn() {
	r.t.Helper()
	if r.exitEnds() {
		r.Await(event.TypeAgentSaid, 1)
		return
	}
	r.Await(event.TypeAgentFinished, 1)
}

func checkMissing(t *testing.T, a Agent) {
	rec := NewRecorder(t)
	_, err := agent.Start(config(t, a, filepath.Join(t.TempDir(), "no-such-agent"), roleHonest, Finish, rec))
	if !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("error %v", err)
	}
	if n := len(rec.Drafts()); n > 0 {
		t.Errorf("%d events of an agent that never was", n)
	}
}

func checkDead(t *testing.T, a Agent) {
	exit := start(t, a, roleDead, Finish).over(0)
	if exit.Code != 3 || exit.Signal != "" || !strings.Contains(exit.Stderr, deadWords) {
		t.Errorf("%+v", exit)
	}
}

func checkQuits(t *testing.T, a Agent) {
	r := start(t, a, roleQuits, Wait)
	if exit := r.over(0); exit.Code != 0 || exit.Signal != "" {
		t.Errorf("%+v", exit)
	}
	if len(r.Of(event.TypeAgentSaid)) == 0 {
		t.Error("what it said before it left is lost")
	}
}

func checkHalf(t *testing.T, a Agent) {
	r := start(t, a, roleHalf, Wait)
	r.over(0)
	held := false
	for _, d := range r.Drafts() {
		switch d.Type {
		case event.TypeAgentUnparsed:
			held = held || Payload[event.AgentUnparsed](t, d).Line.String() == halfLine
		case event.TypeAgentSaid:
			held = held || Payload[event.AgentSaid](t, d).Text.String() == halfLine
		}
	}
	if !held {
		t.Errorf("the half line is lost\n%s", r.Recorder)
	}
}

func checkHonest(t *testing.T, a Agent) {
	r := start(t, a, roleHonest, Finish)
	r.turn()
	if r.exitEnds() {
		<-r.Done()
	}
	r.Abort(7)
	if exit := r.over(r.ends()); exit.Code != 0 || exit.Signal != "" || exit.Strays != 0 {
		t.Errorf("%+v\n%s", exit, r.Recorder)
	}
}

func checkStays(t *testing.T, a Agent) {
	r := start(t, a, roleStays, Finish)
	r.turn()
	r.Abort(7)
	if exit := r.over(r.ends()); exit.Signal != "SIGTERM" {
		t.Errorf("%+v", exit)
	}
	drafts := r.Drafts()
	if cause := drafts[len(drafts)-1].Cause; cause != 7 {
		t.Errorf("the cause of the end is %d", cause)
	}
}

func checkStubborn(t *testing.T, a Agent) {
	r := start(t, a, roleStubborn, Finish)
	r.turn()
	r.Abort(7)
	if exit := r.over(r.ends()); exit.Signal != "SIGKILL" {
		t.Errorf("%+v", exit)
	}
}

func checkSessionAbort(t *testing.T, a Agent) {
	r := start(t, a, roleStays, Wait)
	r.Await(event.TypeAgentSaid, 1)
	other := begin(t, a, a.Fake()) // another conversation: only whether there is a way
	other.open(Wait)
	aborts := len(other.d.Abort()) > 0
	r.Abort(7)
	if !aborts {
		r.over(0)
		return
	}
	r.over(1)
	if p := Payload[event.AgentFinished](t, r.Of(event.TypeAgentFinished)[0]); p.Outcome != "aborted" {
		t.Errorf("%+v", p)
	}
}

func checkKill(t *testing.T, a Agent) {
	r := start(t, a, roleStubborn, Wait)
	r.Await(event.TypeAgentSaid, 1)
	r.Kill()
	if exit := r.over(0); exit.Signal != "SIGKILL" || exit.Code != -1 {
		t.Errorf("%+v", exit)
	}
}

func checkSessionSteer(t *testing.T, a Agent) {
	r := start(t, a, roleHonest, Wait)
	r.Await(event.TypeAgentSaid, 1)
	live := Payload[event.AgentStarted](t, r.Await(event.TypeAgentStarted, 1)).Live
	if err := r.Steer("c1", "a word", 1); (err == nil) != live {
		t.Fatalf("live %v, and yet: %v", live, err)
	}
	if !live {
		return
	}
	r.Await(event.TypeAgentFinished, 1)
	delivered := r.Of(event.TypeCommandDelivered)
	if len(delivered) != 1 {
		t.Fatalf("delivered %d times\n%s", len(delivered), r.Recorder)
	}
	if p := Payload[event.CommandDelivered](t, delivered[0]); p.ID != "c1" || p.How != "live" {
		t.Errorf("%+v", p)
	}
	if err := r.Steer("c2", "too late", 1); err == nil {
		t.Error("a steer was taken after the turn")
	}
	r.Abort(7)
	r.over(1)
}

func checkReuse(t *testing.T, a Agent, role string) {
	able := a.New().Abilities()
	same := able.Same && !able.Reset // then the second turn continues in the same context
	r := start(t, a, role, Finish)
	r.turn()
	r.Release(same, 5)
	if len(r.Of(event.TypeAgentParked)) == 0 {
		r.over(r.ends())
		return
	}
	if !same && !r.Refresh() {
		t.Fatalf("no fresh context\n%s", r.Recorder)
	}
	r.Begin(agent.Prompt{Text: Finish, Iteration: 2}, true, 9)
	r.Await(event.TypeAgentFinished, 2)
	r.Release(same, 11)
	started := r.Of(event.TypeAgentStarted)
	first, second := Payload[event.AgentStarted](t, started[0]), Payload[event.AgentStarted](t, started[1])
	if first.Reused || !second.Reused || first.PID != second.PID || started[1].Cause != 9 {
		t.Errorf("%+v\n%+v", first, second)
	}
	if n := len(r.Of(event.TypeAgentParked)); n != 2 {
		t.Errorf("parked %d times", n)
	}
	r.Abort(13)
	r.over(2)
}

func checkOrphan(t *testing.T, a Agent) {
	r := start(t, a, roleParent, Finish)
	if !r.exitEnds() { // what its turn began with has been read
		r.Await(event.TypeAgentSaid, 1)
	}
	if err := os.WriteFile(filepath.Join(r.dir, sign), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.turn()
	r.Release(false, 5)
	strays := 0
	if parked := r.Of(event.TypeAgentParked); len(parked) > 0 {
		strays = Payload[event.AgentParked](t, parked[0]).Strays
		r.Abort(7)
	}
	if exit := r.over(r.ends()); strays+exit.Strays != 1 {
		t.Errorf("%d processes were left over while it was parked and %d at its end, want one\n%s", strays, exit.Strays, r.Recorder)
	}
}
