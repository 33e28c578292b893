//go:build linux || darwin

package process

import (
	"os"
	"slices"
	"syscall"
	"testing"
)

// launcher has a program of its own as a child, as npm's launchers have, and starts another process
// of either kind with each line that it reads: "child" in its own group, "daemon" in a session of
// its own.
func launcher(t *testing.T) (a *agent, program int) {
	t.Helper()
	spec := actor("launcher")
	spec.KeepStdin = true
	a = start(t, spec)
	program = a.pidLine()
	return a, program
}

func (a *agent) starts(what string) (pid int) {
	a.t.Helper()
	if err := a.Write([]byte(what + "\n")); err != nil {
		a.t.Fatal(err)
	}
	return a.pidLine()
}

// others ends what is not the agent's, and returns what that was.
func (a *agent) others() (pids []int) {
	a.t.Helper()
	strays, err := a.EndOthers(a.t.Context(), deadline)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, stray := range strays {
		pids = append(pids, stray.PID)
	}
	slices.Sort(pids)
	return pids
}

func (a *agent) setBaseline() {
	a.t.Helper()
	if err := a.SetBaseline(); err != nil {
		a.t.Fatal(err)
	}
}

func TestBaselineOutlivesTurn(t *testing.T) {
	a, program := launcher(t)
	daemon := a.starts("daemon")
	a.setBaseline()
	child, other := a.starts("child"), a.starts("daemon")
	want := []int{child, other}
	slices.Sort(want)
	if got := a.others(); !slices.Equal(got, want) || alive(child) || alive(other) {
		t.Errorf("ended %v, want %v", got, want)
	}
	if !alive(program) || !alive(daemon) || !alive(a.PID()) {
		t.Errorf("alive: the program %v, its daemon %v, the agent %v", alive(program), alive(daemon), alive(a.PID()))
	}
	if again := a.others(); len(again) > 0 {
		t.Errorf("ended %v as well", again)
	}
	a.Kill()
	if exit := a.ended(); alive(program) || alive(daemon) {
		t.Errorf("the end of the agent left the program %v, its daemon %v: %+v", alive(program), alive(daemon), exit)
	}
}

func TestBaselineGrowsBetweenTurns(t *testing.T) {
	a, program := launcher(t)
	a.setBaseline()
	daemon := a.starts("daemon")
	a.setBaseline()
	if got := a.others(); len(got) > 0 || !alive(program) || !alive(daemon) {
		t.Errorf("ended %v", got)
	}
}

func TestEndedBaselineProcessIsIgnored(t *testing.T) {
	a, program := launcher(t)
	daemon := a.starts("daemon")
	a.setBaseline()
	if err := syscall.Kill(daemon, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, daemon)
	if got := a.others(); len(got) > 0 || !alive(program) {
		t.Errorf("ended %v", got)
	}
}

// The number of one that has ended may be given to a tool.
func TestReusedBaselinePIDIsEnded(t *testing.T) {
	a, program := launcher(t)
	a.setBaseline()
	tool := a.starts("daemon")
	who, _ := inspect(tool)
	a.baseline = append(a.baseline, identity{pid: tool, start: who.start - 1})
	if got := a.others(); !slices.Equal(got, []int{tool}) || alive(tool) || !alive(program) {
		t.Errorf("ended %v, want %d", got, tool)
	}
}

// Those that ignore TERM are killed with their groups, but not one that holds a process of the
// agent's.
func TestMixedGroupIsNotKilled(t *testing.T) {
	a, program := launcher(t)
	a.setBaseline()
	child := a.starts("stubborn child")
	strays, err := a.EndOthers(t.Context(), shortGrace)
	if err != nil || alive(child) || endings(strays)[child] != Killed || !alive(program) || !alive(a.PID()) {
		t.Errorf("ended %+v, %v; the program is alive: %v", strays, err, alive(program))
	}
}

func TestBaselineAfterExitFails(t *testing.T) {
	a := start(t, shell("exit 0"))
	a.ended()
	if err := a.SetBaseline(); err == nil {
		t.Error("no error")
	}
}

// An agent that is reaped between the listing of processes and that of the roots ran when the
// processes were listed. What it left running belongs to no other agent.
func TestReapedAgentKeepsItsStrays(t *testing.T) {
	before := subreaper.Swap(true)
	t.Cleanup(func() { subreaper.Store(before) })
	const beyond = 1 << 30 // no process of this machine has such a pid
	us := info{identity: identity{os.Getpid(), 1}, ppid: 1, sid: 1, threads: 1}
	one := info{identity: identity{beyond, 5}, ppid: us.pid, pgid: beyond, sid: beyond, threads: 1}
	other := info{identity: identity{beyond + 1, 5}, ppid: us.pid, pgid: beyond + 1, sid: beyond + 1, state: 'Z', threads: 1}
	stray := info{identity: identity{beyond + 2, 6}, ppid: us.pid, pgid: beyond + 2, sid: beyond + 2, threads: 1}
	r := rootSet{known: map[identity]root{one.identity: {mark: "one"}, other.identity: {mark: "other"}}}
	all, others, err := r.listWith(func() (table, error) {
		r.remove(other.identity)
		return table{us, one, other, stray}, nil
	}, one.identity)
	if err != nil {
		t.Fatal(err)
	}
	if ours := all.members(newTree(one.identity, "one"), others); ours[stray.pid] || !ours[one.pid] {
		t.Errorf("the tree of %d is %v", one.pid, ours)
	}
	alone := r.others(one.identity)
	if ours := all.members(newTree(one.identity, "one"), alone); !ours[stray.pid] {
		t.Error("what is adopted while there is one agent alone is its stray")
	}
}
