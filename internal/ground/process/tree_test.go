//go:build linux || darwin

package process

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// withoutAdoption makes adopted processes unfindable by that trace, as on systems without
// subreapers.
func withoutAdoption(t *testing.T) {
	t.Helper()
	before := subreaper.Swap(false)
	t.Cleanup(func() { subreaper.Store(before) })
}

func needsSubreaper(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has subreapers")
	}
}

// shortGrace is for processes that ignore TERM anyway.
const shortGrace = 50 * time.Millisecond

func endings(strays []Stray) map[int]Ending {
	byPID := map[int]Ending{}
	for _, stray := range strays {
		byPID[stray.PID] = stray.Ended
	}
	return byPID
}

func TestTerminate(t *testing.T) {
	t.Run("an agent that leaves politely is not killed", func(t *testing.T) {
		a := start(t, shell(`trap 'echo bye; exit 7' TERM; echo ready; sleep 1000 & wait`))
		a.line()
		report := a.terminated(t.Context(), deadline)
		if !report.Gone || report.Killed || report.Exit.Code != 7 || !strings.HasSuffix(a.output(Stdout), "bye|") {
			t.Errorf("got %+v, %q", report, a.output(Stdout))
		}
	})
	t.Run("one that ignores TERM is killed after the grace", func(t *testing.T) {
		a := start(t, actor("sit", "stubborn"))
		a.line()
		report := a.terminated(t.Context(), shortGrace)
		if !report.Gone || !report.Killed || report.Exit.Signal != "SIGKILL" || report.Exit.Took < shortGrace {
			t.Errorf("got %+v", report)
		}
	})
	t.Run("a context that ends takes the grace with it", func(t *testing.T) {
		a := start(t, actor("sit", "stubborn"))
		a.line()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if report := a.terminated(ctx, time.Hour); !report.Gone || !report.Killed {
			t.Errorf("got %+v", report)
		}
	})
	t.Run("a stopped agent receives it", func(t *testing.T) {
		a := start(t, actor("sit"))
		a.line()
		if err := syscall.Kill(-a.PID(), syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		if report := a.terminated(t.Context(), deadline); !report.Gone || report.Killed || report.Exit.Signal != "SIGTERM" {
			t.Errorf("got %+v", report)
		}
	})
	t.Run("a grandchild in its own session that ignores TERM goes too", func(t *testing.T) {
		a := start(t, actor("agent with daemon", "stubborn"))
		daemon := a.pidLine()
		a.line()
		report := a.terminated(t.Context(), shortGrace)
		// On a busy machine the agent itself may take longer than the grace: the daemon is then
		// killed with it and is no stray.
		if ended, stray := endings(report.Exit.Strays)[daemon]; alive(daemon) || !report.Gone || !report.Killed || stray && ended != Killed {
			t.Errorf("got %+v, the daemon %d is alive: %v", report, daemon, alive(daemon))
		}
	})
	t.Run("after the end it reports the same exit", func(t *testing.T) {
		a := start(t, shell("exit 3"))
		a.ended()
		for range 2 {
			if report := a.terminated(t.Context(), 0); !report.Gone || report.Killed || report.Exit.Code != 3 {
				t.Errorf("got %+v", report)
			}
		}
	})
	t.Run("many callers at once agree", func(t *testing.T) {
		a := start(t, actor("sit", "stubborn"))
		a.line()
		var callers sync.WaitGroup
		for range 8 {
			callers.Go(func() {
				if report := a.terminated(t.Context(), 20*time.Millisecond); report.Exit.Signal != "SIGKILL" {
					t.Errorf("got %+v", report)
				}
			})
		}
		callers.Wait()
	})
}

func TestStraysEndAfterNormalExit(t *testing.T) {
	for name, test := range map[string]struct {
		role, manner string
		want         Ending
	}{
		"one in its own session":                     {"daemon", "", Terminated},
		"one in its own session that ignores TERM":   {"daemon", "stubborn", Killed},
		"one that also wiped its environment":        {"hidden daemon", "", Terminated},
		"one that wiped it and ignores TERM as well": {"hidden daemon", "stubborn", Killed},
	} {
		t.Run(name, func(t *testing.T) {
			if test.role == "hidden daemon" {
				needsSubreaper(t)
			}
			spec := actor(test.role, test.manner)
			if test.manner == "stubborn" {
				spec.strayGrace = shortGrace
			}
			a := start(t, spec)
			daemon := a.pidLine()
			exit := a.ended()
			if alive(daemon) || exit.Code != 0 || exit.Err != nil || len(exit.Strays) != 1 || endings(exit.Strays)[daemon] != test.want {
				t.Errorf("got %+v, daemon %d", exit, daemon)
			}
			if len(exit.Strays) > 0 && !strings.Contains(exit.Strays[0].Command, filepath.Base(self())) {
				t.Errorf("the stray's command is %q", exit.Strays[0].Command)
			}
			// What other tests left, ended before any scan could find whose it was, is reaped in
			// time.
			if zombies := ownZombies(t); slices.Contains(zombies, daemon) || slices.Contains(zombies, a.PID()) {
				t.Errorf("left unreaped: %v", zombies)
			}
		})
	}
}

// TERM is lost to what the process was before, as between a shell's fork and exec.
func TestExecedProcessIsSignaledAgain(t *testing.T) {
	spec := shell(`sh -c 'trap "exec sleep 1000" TERM; echo $$; while :; do sleep 0.01; done' & read go; exit 5`)
	spec.KeepStdin = true
	a := start(t, spec)
	stray := a.pidLine()
	a.CloseStdin()
	if exit := a.ended(); exit.Code != 5 || alive(stray) || endings(exit.Strays)[stray] != Terminated {
		t.Errorf("got %+v, stray %d", exit, stray)
	}
}

func TestMarkAloneFindsStray(t *testing.T) {
	withoutAdoption(t)
	a := start(t, actor("daemon"))
	daemon := a.pidLine()
	if exit := a.ended(); alive(daemon) || endings(exit.Strays)[daemon] != Terminated {
		t.Errorf("got %+v", exit)
	}
}

func TestHeldOutputDelaysNoExit(t *testing.T) {
	t.Run("in the agent's group, ignoring TERM", func(t *testing.T) {
		spec := shell(`trap '' TERM; sleep 1000 & echo $!; exit 5`)
		spec.strayGrace = shortGrace
		a := start(t, spec)
		sleeper := a.pidLine()
		exit := a.ended()
		if exit.Code != 5 || alive(sleeper) || endings(exit.Strays)[sleeper] != Killed {
			t.Errorf("got %+v", exit)
		}
	})
	t.Run("where nothing leads to it", func(t *testing.T) {
		withoutAdoption(t)
		a := start(t, actor("hidden daemon"))
		holder := a.pidLine()
		exit := a.ended()
		if exit.Code != 0 || !alive(holder) {
			t.Errorf("got %+v, holder alive: %v", exit, alive(holder))
		}
		killAndReap(t, holder)
	})
}

func TestEndlessOutputDelaysNoExit(t *testing.T) {
	spec := shell(`trap '' TERM; (while :; do echo y; done) & exit 0`)
	spec.strayGrace = shortGrace
	a := start(t, spec)
	drained := make(chan struct{})
	go func() { // the collector's channel would fill up
		defer close(drained)
		for {
			select {
			case <-a.lines:
			case <-a.Done():
				return
			}
		}
	}()
	if exit := a.ended(); exit.Code != 0 || len(exit.Strays) == 0 {
		t.Errorf("got %+v", exit)
	}
	<-drained
}

func TestEndlessForkerIsEnded(t *testing.T) {
	// Each process of the chain lives for a fraction of the time that a scan of all processes
	// takes.
	spec := shell(`trap '' TERM; f() { [ $1 -gt 200000 ] || f $(($1+1)) & } ; f 1 & exit 0`)
	spec.strayGrace = shortGrace
	a := start(t, spec)
	if exit := a.ended(); exit.Err != nil {
		t.Error(exit.Err)
	}
	for limit := time.Now().Add(deadline); syscall.Kill(-a.PID(), 0) == nil; {
		for _, zombie := range ownZombies(t) {
			reapOrphan(zombie)
		}
		if time.Now().After(limit) {
			t.Fatal("the agent's group still has processes")
		}
	}
}

func TestExitSparesOtherAgent(t *testing.T) {
	needsSubreaper(t)
	for name, marks := range map[string][2]string{
		"each with a mark of its own": {"a", "b"},
		"with one mark for both":      {"shared", "shared"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := actor("agent with daemon")
			spec.Mark = mark(t) + marks[0]
			other := start(t, spec)
			daemon := other.pidLine()
			other.line()
			spec = shell("exit 0")
			spec.Mark = mark(t) + marks[1]
			if exit := start(t, spec).ended(); len(exit.Strays) > 0 || !alive(daemon) || !alive(other.PID()) {
				t.Errorf("got %+v", exit)
			}
		})
	}
}

func TestOrdinaryChildrenAreLeftAlone(t *testing.T) {
	var others sync.WaitGroup
	stop := make(chan struct{})
	for _, session := range []bool{false, true} {
		others.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				child := exec.Command("sh", "-c", "exit 3")
				child.SysProcAttr = &syscall.SysProcAttr{Setpgid: session}
				if err := child.Run(); child.ProcessState.ExitCode() != 3 {
					t.Errorf("a child's status was lost: %v", err)
					return
				}
			}
		})
	}
	long := exec.Command(self())
	long.Env = append(os.Environ(), roleVariable+"=sit", MarkVariable+"="+mark(t))
	if err := long.Start(); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if exit := start(t, shell("exit 0")).ended(); len(exit.Strays) > 0 {
			t.Errorf("got %+v", exit)
		}
	}
	close(stop)
	others.Wait()
	if err := long.Process.Kill(); err != nil {
		t.Errorf("our own child is gone: %v", err)
	}
	_ = long.Wait()
}

func TestUnclaimedZombiesAreReaped(t *testing.T) {
	needsSubreaper(t)
	// A process in a session of its own which has ended and is not waited for.
	child := exec.Command("true")
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if err := awaitExit(child); err != nil {
		t.Fatal(err)
	}
	who, _ := inspect(child.Process.Pid)
	start(t, shell("exit 0")).ended()
	if now, ok := inspect(who.pid); !ok || !now.zombie() {
		t.Fatal("it was reaped at first sight, although os/exec may be about to wait for it")
	}
	unclaimed.mu.Lock()
	since, seen := unclaimed.seen[who.identity]
	unclaimed.seen[who.identity] = since.Add(-time.Second)
	unclaimed.mu.Unlock()
	if !seen {
		t.Fatal("it was not noticed")
	}
	start(t, shell("exit 0")).ended()
	if _, ok := inspect(who.pid); ok {
		t.Error("it was not reaped")
	}
	_ = child.Process.Release()
}

// runner starts this binary as a runner with an agent of its own, and returns once the agent has
// printed its first lines.
func runner(t *testing.T, lines int, args ...string) (runner *exec.Cmd, pids []int) {
	t.Helper()
	runner = exec.Command(self(), args...)
	runner.Env = append(os.Environ(), roleVariable+"=runner")
	runner.Stderr = os.Stderr
	out, err := runner.StdoutPipe()
	if err == nil {
		err = runner.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	text := bufio.NewScanner(out)
	for range lines {
		text.Scan()
		pid, err := strconv.Atoi(text.Text())
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return runner, pids
}

func killRunner(t *testing.T, runner *exec.Cmd) {
	t.Helper()
	if err := runner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = runner.Wait()
}

func TestParentDeathEndsAgent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has a parent-death signal")
	}
	r, pids := runner(t, 1, mark(t), "sit", "die together", "stubborn")
	killRunner(t, r)
	awaitEnd(t, pids[0])
}

func TestSweepFindsLeftProcesses(t *testing.T) {
	r, pids := runner(t, 2, mark(t), "agent with daemon", "live on", "stubborn")
	killRunner(t, r)
	for _, pid := range pids {
		if !alive(pid) {
			t.Fatalf("pid %d has not outlived its runner", pid)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // the grace lasts until the one that heeds TERM has ended
		defer cancel()
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for alive(pids[1]) && t.Context().Err() == nil {
			<-tick.C
		}
	}()
	strays, err := Sweep(ctx, mark(t), deadline)
	if err != nil {
		t.Fatal(err)
	}
	ended := endings(strays)
	if len(strays) != 2 || ended[pids[0]] != Killed || ended[pids[1]] != Terminated {
		t.Errorf("got %+v, want %v", strays, pids)
	}
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("pid %d is still there", pid)
		}
	}
	if strays, err := Sweep(t.Context(), mark(t), time.Second); err != nil || len(strays) > 0 {
		t.Errorf("the second time: %+v, %v", strays, err)
	}
}

func TestSweepSparesItsAncestors(t *testing.T) {
	spec := shell(`PROCESS_TEST_ROLE=sweeper "` + self() + `"; echo "shell lives"`)
	a := start(t, spec)
	if got := a.line(); got != "0 <nil>" {
		t.Errorf("the sweep: %q", got)
	}
	if got := a.line(); got != "shell lives" {
		t.Errorf("then: %q", got)
	}
}

func TestSweepNeedsMark(t *testing.T) {
	if _, err := Sweep(t.Context(), "", time.Second); err == nil {
		t.Error("an empty mark, which everything carries, was swept")
	}
}

func TestSignalSparesReusedPID(t *testing.T) {
	a := start(t, actor("sit"))
	a.line()
	start, ok := StartTime(a.PID())
	if !ok || start == 0 {
		t.Fatalf("facts: %d, %v", start, ok)
	}
	if err := (identity{a.PID(), start + 1}).signal(syscall.SIGKILL); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("got %v", err)
	}
	if !alive(a.PID()) {
		t.Error("it was killed")
	}
	if _, ok := StartTime(1 << 30); ok {
		t.Error("facts about a process that cannot be")
	}
}

func ownZombies(t *testing.T) []int {
	t.Helper()
	all, err := listProcesses(0)
	if err != nil {
		t.Fatal(err)
	}
	var zombies []int
	for m := range slices.Values(all) {
		if m.ppid == os.Getpid() && m.zombie() {
			zombies = append(zombies, m.pid)
		}
	}
	return zombies
}

func killAndReap(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	awaitEnd(t, pid)
	reapOrphan(pid)
}

// Where orphans do not come to us, one scan may miss a process in the same way: two have to agree.
func TestScansRepeatWithoutSubreaper(t *testing.T) {
	withoutAdoption(t)
	a := start(t, actor("agent with daemon"))
	daemon := a.pidLine()
	f := newTree(a.tree.root, mark(t))
	scans := 0
	f.list = func() (table, error) {
		all, err := listProcesses(0)
		if scans++; scans == 1 {
			all = slices.DeleteFunc(all, func(m info) bool { return m.pid == daemon })
		}
		return all, err
	}
	found, none, err := f.scanAll(t.Context())
	if err != nil || none || len(found.alive) != 1 || found.alive[0].pid != daemon {
		t.Errorf("got %+v, none: %v, %v", found, none, err)
	}
}
