package loop_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/simfs"
	"github.com/ralph-loop/ralph/journal/event"
)

// The simulation plays nights of a loop: the real engine, driver, policies and
// journal, on a disk that fails, among people, agents and processes that do what they
// like. sim_world_test.go is the world, sim_invariants_test.go says what has to hold
// in it, and sim_mutation_test.go shows that each of those can fail.
var (
	simSeeds = flag.Int("sim.seeds", 100, "how many nights TestSimulation plays")
	simSeed  = flag.Uint64("sim.seed", 0, "the one night that TestSimulation plays")
)

// Every night is played twice: the same seed gives the same night.
func TestSimulation(t *testing.T) {
	t.Parallel()
	if *simSeed != 0 {
		playTwice(t, *simSeed)
		return
	}
	reached := map[string]bool{}
	for seed := range uint64(nights(1)) {
		w := playTwice(t, seed+1)
		if t.Failed() {
			return
		}
		reach(t, w, reached)
	}
	if nights(1) < 100 {
		return
	}
	for _, word := range worthReaching {
		if !reached[word] {
			t.Errorf("%d nights, and never %q: the simulation has become too tame", nights(1), word)
		}
	}
}

// worthReaching is what has to happen in some of a hundred nights, for the
// invariants to mean something.
var worthReaching = []string{
	"agent.started", "agent.started again", "agent.rested", "agent.exited", "agent.finished",
	"decided iteration.begin", "decided agent.start", "decided agent.steer", "decided agent.release", "decided agent.abort", "decided agent.kill",
	"effect.failed iteration.begin", "effect.failed agent.start", "effect.failed agent.steer",
	"command.delivered live", "command.delivered prompt", "command.delivered loop", "command.refused",
	"completion.accepted", "completion.refused", "loop.paused", "loop.unpaused", "loop.configured", "loop.resumed", "fault.raised",
	"timer.fired idle", "timer.fired iteration", "timer.fired afterResult", "timer.fired restart",
	"iteration.ended done", "iteration.ended failed", "iteration.ended idle", "iteration.ended overlong", "iteration.ended aborted", "iteration.ended interrupted",
	"loop.ended iterations", "loop.ended stop", "loop.ended kill", "loop.ended interrupt", "loop.ended promise", "loop.ended restarts",
	"loop.ended agent", "loop.ended disk", "loop.ended fault",
}

// reach takes note of what happened in a night.
func reach(t *testing.T, w *world, reached map[string]bool) {
	events, err := readAll(w.disk)
	if err != nil {
		t.Error(report(w, err))
	}
	for _, e := range events {
		word := string(e.Type)
		reached[word] = true
		for _, key := range []string{"do", "how", "name", "outcome", "reason"} {
			if value := e.Field(key); len(value) > 2 {
				reached[word+" "+strings.Trim(string(value), `"`)] = true
			}
		}
		if e.Type == event.TypeAgentStarted && string(e.Field("reused")) == "true" {
			reached[word+" again"] = true
		}
	}
}

// nights is how many nights to play where each costs as much as so many.
func nights(each int) int {
	n := *simSeeds
	if testing.Short() {
		n /= 4
	}
	return max(1, n/each)
}

// Nights that once went wrong, each under the name of what was wrong.
func TestSimulationRemembers(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "sim", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no nights: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			nights := 0
			for line := range strings.Lines(string(content)) {
				var seed uint64
				if _, err := fmt.Sscanf(line, "seed %d", &seed); err == nil {
					nights++
					playTwice(t, seed)
				}
			}
			if nights == 0 {
				t.Error("the file names no seed")
			}
		})
	}
}

// Small nights are played again and again, and the first runner dies at another
// change each time, the second one soon after.
func TestSimulationCrashesAtEveryChange(t *testing.T) {
	t.Parallel()
	if *simSeed != 0 {
		t.Skip("one night is asked for")
	}
	played := 0
	for seed := uint64(1); played < nights(50); seed++ {
		s := newScene(seed)
		s.disasters, s.resumes, s.keep = 0, 0, 0
		s.rules.MaximumIterations = min(s.rules.MaximumIterations, 2)
		w, problem := playNight(seed, s, mutation{})
		if problem != nil {
			t.Fatal(report(w, problem))
		}
		if w.runs != 1 || w.changes > 250 || w.facts < 10 {
			continue // not small, or nothing happens
		}
		played++
		for change := 1; change <= w.changes; change++ {
			for _, s.deaths = range [][2]simfs.Loss{
				{simfs.Killed, simfs.Killed}, {simfs.Killed, simfs.PowerLost}, {simfs.PowerLost, simfs.PowerLost},
			} {
				s.crashAt = [2]int{change, 1 + change%30}
				crashed, problem := playNight(seed, s, mutation{})
				if problem != nil {
					t.Fatalf("deaths %v at changes %v of %d: %s", s.deaths, s.crashAt, w.changes, report(crashed, problem))
				}
				if crashed.crashes == 0 {
					t.Fatalf("seed %d: no crash at change %d of %d", seed, change, w.changes)
				}
			}
		}
		t.Logf("seed %d: %d changes", seed, w.changes)
	}
}

// playTwice plays a night twice and returns the first.
func playTwice(t *testing.T, seed uint64) *world {
	t.Helper()
	first, problem := playNight(seed, newScene(seed), mutation{})
	if problem == nil {
		var second *world
		second, problem = playNight(seed, newScene(seed), mutation{})
		if problem == nil {
			problem = compareNights(first, second)
		}
	}
	if problem != nil {
		t.Error(report(first, problem))
		return first
	}
	t.Logf("seed %d: %d steps, %d runners, %d crashes, %d agents, %d lines of theirs", seed, first.steps, first.runs, first.crashes, len(first.agents), first.facts)
	return first
}

// playNight plays a night and returns the violation that ended it, if any.
func playNight(seed uint64, s scene, broken mutation) (w *world, problem error) {
	w = newWorld(seed, s, broken)
	defer func() {
		switch v := recover().(type) {
		case nil:
		case violation:
			problem = v
		default:
			panic(v)
		}
	}()
	w.night()
	return w, nil
}

// report tells a person what went wrong and how to see it again.
func report(w *world, problem error) string {
	return fmt.Sprintf("seed %d: %v\n\n%s\n\nreplay: go test ./internal/loop -run 'TestSimulation$' -sim.seed=%d -v",
		w.seed, problem, w.story(30), w.seed)
}

// compareNights finds the first difference of two nights with the same seed.
func compareNights(a, b *world) error {
	for i := range max(len(a.trace), len(b.trace)) {
		if x, y := at(a.trace, i), at(b.trace, i); x != y {
			return violation{sameNight, fmt.Sprintf("once %q, and then %q", x, y)}
		}
	}
	x, y := files(a.disk, loopDir), files(b.disk, loopDir)
	for i := range max(len(x), len(y)) {
		if at(x, i) != at(y, i) {
			return violation{sameNight, fmt.Sprintf("once the file %q, and then %q", at(x, i), at(y, i))}
		}
	}
	for _, file := range x {
		one, err1 := a.disk.ReadFile(file)
		other, err2 := b.disk.ReadFile(file)
		if !bytes.Equal(one, other) || err1 != nil || err2 != nil {
			return violation{sameNight, fmt.Sprintf("%s differs: %s %v %v", file, firstDifference(one, other), err1, err2)}
		}
	}
	return nil
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}

// files lists all files below a folder.
func files(disk *simfs.FS, dir string) (paths []string) {
	names, err := disk.List(dir)
	if err != nil {
		return []string{dir}
	}
	for _, name := range names {
		paths = append(paths, files(disk, dir+"/"+name)...)
	}
	return paths
}
