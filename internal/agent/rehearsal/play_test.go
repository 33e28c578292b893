package rehearsal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/agenttest"
	"github.com/ralph-loop/ralph/internal/agent/rehearsal"
	"github.com/ralph-loop/ralph/internal/agent/rehearsal/player"
	"github.com/ralph-loop/ralph/journal/event"
)

// playVariable makes this binary play the scenario that its last argument names.
const playVariable = "REHEARSAL_TEST_PLAY"

func playScenario() int {
	s, err := player.Load("", os.Args[len(os.Args)-1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return player.Run(context.Background(), player.Options{
		Scenario: s, In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
	})
}

// rehearse is a session with a real player.
type rehearse struct {
	*agent.Session
	*agenttest.Recorder
	dir string
}

// inquiring sends, after each steer, a line that the player does not know: it says so at once, and
// has read the steer then. Else a command may be over before a steer is read that was sent in time.
type inquiring struct{ *rehearsal.Dialect }

func (d inquiring) Steer(id, text string) ([][]byte, bool) {
	lines, live := d.Dialect.Steer(id, text)
	return append(lines, []byte(`{"do":"heard"}`)), live
}

// quick is for a player that is not meant to leave by itself.
var quick = agent.Patience{Abort: 50 * time.Millisecond, Stop: 50 * time.Millisecond, Term: 50 * time.Millisecond}

var patient = agent.Patience{Abort: time.Minute, Stop: time.Minute, Term: time.Minute}

// start plays a scenario, by its text or by the name of one that is built in.
func start(t *testing.T, scenario string, patience agent.Patience) *rehearse {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &rehearse{Recorder: agenttest.NewRecorder(t), dir: t.TempDir()}
	if strings.ContainsAny(scenario, " \n") {
		file := filepath.Join(t.TempDir(), "test.rehearsal")
		if err := os.WriteFile(file, []byte(scenario), 0o600); err != nil {
			t.Fatal(err)
		}
		scenario = file
	}
	r.Session, err = agent.Start(agent.Config{
		Name: "rehearsal", Dialect: inquiring{rehearsal.New(self, player.Check)}, Patience: patience, KeepRaw: true,
		Spec: agent.Spec{Command: []string{"ralph", "rehearse", scenario}, Dir: r.dir, Iteration: 1},
		Env:  append(os.Environ(), playVariable+"=1"),
		Mark: t.Name() + time.Now().String(), Deliver: r.Deliver,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Kill()
		<-r.Done()
	})
	r.Begin(agent.Prompt{Text: "go", Iteration: 1}, false, 1)
	return r
}

// exit waits for the end of the process.
func (r *rehearse) exit(t *testing.T) event.AgentExited {
	t.Helper()
	exited := agenttest.Payload[event.AgentExited](t, r.Await(event.TypeAgentExited, 1))
	<-r.Done()
	return exited
}

// hangs waits until the player has said that it hangs: it is the third of its notices,
// after ready and begun.
func (r *rehearse) hangs() { r.Await(event.TypeAgentNoticed, 3) }

// order fails where the first events of these types did not come in this order.
func (r *rehearse) order(t *testing.T, types ...event.Type) {
	t.Helper()
	var got []event.Type
	for _, d := range r.Drafts() {
		if slices.Contains(types, d.Type) && !slices.Contains(got, d.Type) {
			got = append(got, d.Type)
		}
	}
	if diff := cmp.Diff(types, got); diff != "" {
		t.Errorf("%s\n%s", diff, r.Recorder)
	}
}

func (r *rehearse) said(t *testing.T) []string {
	var all []string
	for _, d := range r.Of(event.TypeAgentSaid) {
		all = append(all, agenttest.Payload[event.AgentSaid](t, d).Text.String())
	}
	return all
}

func TestSteerDuringCommandIsDelivered(t *testing.T) {
	r := start(t, "run until test -e go; do sleep 0.01; done\nsay after\nsteered -> say heard {steer}", patient)
	r.Await(event.TypeToolCalled, 1)
	if err := r.Steer("c1", "the other\nbranch", 1); err != nil {
		t.Fatal(err)
	}
	r.Await(event.TypeAgentNoticed, 3) // ready, begun, and what inquiring asked
	if err := os.WriteFile(filepath.Join(r.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.Await(event.TypeAgentFinished, 1)
	r.order(t, event.TypeAgentStarted, event.TypeToolCalled, event.TypeToolReturned, event.TypeCommandDelivered, event.TypeAgentSaid, event.TypeAgentFinished)
	if diff := cmp.Diff([]string{"heard the other\nbranch", "after"}, r.said(t)); diff != "" {
		t.Error(diff)
	}
	delivered := agenttest.Payload[event.CommandDelivered](t, r.Of(event.TypeCommandDelivered)[0])
	if want := (event.CommandDelivered{ID: "c1", How: "live", Iteration: 1}); delivered != want {
		t.Errorf("%+v", delivered)
	}
}

func TestSameProcessPlaysNextIteration(t *testing.T) {
	r := start(t, "iteration\nsay one\norphan exec sleep 300\niteration\nsay two\nstale", patient)
	r.Await(event.TypeAgentFinished, 1)
	r.Release(false, 5)
	if parked := agenttest.Payload[event.AgentParked](t, r.Await(event.TypeAgentParked, 1)); parked.Strays != 1 {
		t.Errorf("%d processes were left over, want the orphan", parked.Strays)
	}
	if !r.Refresh() {
		t.Fatal("no fresh context")
	}
	r.Begin(agent.Prompt{Text: "go", Iteration: 2}, true, 6)
	r.Await(event.TypeAgentFinished, 2)
	if diff := cmp.Diff([]string{"one", "two"}, r.said(t)); diff != "" {
		t.Error(diff)
	}
	r.Release(false, 7)
	if r.Refresh() {
		t.Error("the scenario refuses the second one")
	}
	r.Abort(8)
	if exit := r.exit(t); exit.Code != 0 || exit.Signal != "" || exit.Strays != 0 {
		t.Errorf("%+v", exit)
	}
}

func TestAbortEndsProcess(t *testing.T) {
	r := start(t, "run echo started; sleep 300", patient)
	r.Await(event.TypeToolProgressed, 1)
	r.Abort(7)
	exit := r.exit(t)
	if exit.Code != 0 || exit.Signal != "" {
		t.Errorf("%+v", exit)
	}
	r.order(t, event.TypeToolCalled, event.TypeToolProgressed, event.TypeToolReturned, event.TypeAgentFinished, event.TypeAgentExited)
	if p := agenttest.Payload[event.AgentFinished](t, r.Of(event.TypeAgentFinished)[0]); p.Outcome != "aborted" {
		t.Errorf("%+v", p)
	}
}

func TestSignalsEndHang(t *testing.T) {
	heard := quick
	heard.Term = patient.Term
	r := start(t, "hang", heard)
	r.hangs()
	r.Abort(7)
	if exit := r.exit(t); exit.Signal != "SIGTERM" {
		t.Errorf("%+v", exit)
	}
	if n := len(r.Of(event.TypeAgentFinished)); n != 0 {
		t.Errorf("finished %d times", n)
	}
}

func TestKillEndsIgnoredTerm(t *testing.T) {
	r := start(t, "ignore-term\nsay ready\nhang", quick)
	r.hangs()
	r.Abort(7)
	if exit := r.exit(t); exit.Signal != "SIGKILL" {
		t.Errorf("%+v", exit)
	}
}

func TestAKillLeavesNothingBehind(t *testing.T) {
	r := start(t, "run mkfifo held\norphan exec sleep 300 <>held\nrun exec 3<>held; echo started; sleep 300", patient)
	r.Await(event.TypeToolProgressed, 1)
	// A pipe without a reader cannot be opened for writing.
	write := func() error {
		f, err := os.OpenFile(filepath.Join(r.dir, "held"), os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err == nil {
			f.Close()
		}
		return err
	}
	if err := write(); err != nil {
		t.Fatal("no process holds the pipe:", err)
	}
	r.Kill()
	if exit := r.exit(t); exit.Signal != "SIGKILL" {
		t.Errorf("%+v", exit)
	}
	if err := write(); !errors.Is(err, syscall.ENXIO) {
		t.Errorf("a process still holds the pipe: %v", err)
	}
}

func TestACrashHasNoResult(t *testing.T) {
	r := start(t, "crash", patient)
	exit := r.exit(t)
	if exit.Code != 3 || !strings.Contains(exit.Stderr, "crashing") {
		t.Errorf("%+v", exit)
	}
	if n := len(r.Of(event.TypeAgentFinished)); n != 0 {
		t.Errorf("finished %d times", n)
	}
	r.order(t, event.TypeAgentStarted, event.TypeAgentSaid, event.TypeToolCalled, event.TypeToolReturned, event.TypeAgentUsed, event.TypeAgentExited)
}

func TestGarbageDoesNotStopTurn(t *testing.T) {
	r := start(t, "garbage", patient)
	r.Await(event.TypeAgentFinished, 1)
	all := r.said(t)
	if all[0] != "Before the noise." || all[len(all)-1] != "<promise>COMPLETE</promise>" {
		t.Errorf("said %.200q", all)
	}
	unread := 0
	for _, d := range r.Of(event.TypeAgentUnparsed) {
		line := agenttest.Payload[event.AgentUnparsed](t, d).Line
		if line.IsZero() == (d.Raw == nil) {
			t.Errorf("kept neither or both: line %.100s, raw %.100s", line, d.Raw)
		}
		unread++
	}
	if unread < 20 {
		t.Errorf("%d lines unread", unread)
	}
	if len(all[len(all)-2]) != 1<<20 {
		t.Errorf("the long line has %d bytes of text", len(all[len(all)-2]))
	}
}

func TestLimitHasEnd(t *testing.T) {
	r := start(t, "limit rate until +1h: wait\nerror rate: 429", patient)
	finished := agenttest.Payload[event.AgentFinished](t, r.Await(event.TypeAgentFinished, 1))
	if want := (event.AgentFinished{Outcome: "error", Error: "429", Kind: "rate"}); finished != want {
		t.Errorf("%+v", finished)
	}
	limited := agenttest.Payload[event.AgentLimited](t, r.Of(event.TypeAgentLimited)[0])
	until, err := time.Parse(time.RFC3339, limited.Until)
	if left := time.Until(until); err != nil || left < 59*time.Minute || left > time.Hour {
		t.Errorf("until %q, %v", limited.Until, err)
	}
}

func TestOutputAfterTurn(t *testing.T) {
	r := start(t, "finish\nsay late words\ncrash 4", patient)
	if exit := r.exit(t); exit.Code != 4 {
		t.Errorf("%+v", exit)
	}
	r.order(t, event.TypeAgentFinished, event.TypeAgentSaid, event.TypeAgentExited)
	if n := len(r.Of(event.TypeAgentFinished)); n != 1 {
		t.Errorf("finished %d times", n)
	}
}
