//go:build linux || darwin

package process

import (
	"context"
	"testing"
	"time"
)

// A runner is killed together with what carries its mark, stubborn or not; other processes live on.
func TestEndTree(t *testing.T) {
	r, pids := runner(t, 2, mark(t), "agent with daemon", "live on", "stubborn")
	spec := actor("sit")
	spec.Mark = mark(t) + ", another's"
	bystander := start(t, spec)
	bystander.line()
	begun, ok := StartTime(r.Process.Pid)
	if !ok {
		t.Fatal("the runner is not there")
	}
	if _, err := EndTree(t.Context(), r.Process.Pid, begun+1, time.Second); err != nil {
		t.Fatal(err)
	}
	if !alive(pids[0]) {
		t.Fatal("a pid with another start was taken for the runner")
	}
	reaped := make(chan struct{})
	go func() { defer close(reaped); _ = r.Wait() }()
	strays, err := EndTree(t.Context(), r.Process.Pid, begun, 50*time.Millisecond, mark(t))
	if err != nil {
		t.Fatal(err)
	}
	<-reaped
	ended := endings(strays)
	for _, pid := range pids {
		if ended[pid] == "" || alive(pid) {
			t.Errorf("pid %d: %q, alive %v", pid, ended[pid], alive(pid))
		}
	}
	if !alive(bystander.PID()) {
		t.Error("a bystander was ended")
	}
}

func TestMarkedFindsMarkedProcesses(t *testing.T) {
	spec := actor("sit")
	spec.Mark = mark(t)
	a := start(t, spec)
	a.line()
	marked, err := Marked()
	if err != nil {
		t.Fatal(err)
	}
	if found := marked[mark(t)]; len(found) != 1 || found[0].PID != a.PID() || found[0].Command == "" {
		t.Errorf("%+v", found)
	}
}

// A scan may take longer than the time between two scans, on a machine with much else to do.
func TestSlowScanFindsNoneLeft(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	found, none, err := newTree(identity{}, "a mark of no process").scanAll(over)
	if err != nil || !none || len(found.alive) > 0 {
		t.Errorf("found %v, none %v, %v", found.alive, none, err)
	}
}

// A loop that has moved is in two homes of one person, with one id: what ends it in the one home
// finds no process of the other.
func TestMarksDifferByHome(t *testing.T) {
	const there, here = "/home/ada/.ralph", "/srv/ralph"
	spec := actor("sit")
	spec.Mark = AgentMark(there, mark(t))
	a := start(t, spec)
	a.line()
	marked, err := Marked()
	if err != nil {
		t.Fatal(err)
	}
	for home, want := range map[string]int{there: 1, here: 0} {
		found := 0
		for _, mark := range LoopMarks(home, mark(t)) {
			found += len(marked[mark])
		}
		if found != want {
			t.Errorf("home %s has %d processes of the loop, want %d", home, found, want)
		}
	}
}
