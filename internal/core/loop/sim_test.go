package loop_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/testkit/simfs"
	"github.com/ralph-loop/ralph/journal/event"
)

// The simulation plays runs of a loop: the real engine, driver, policies and journal, on a disk
// that fails, among people, agents and processes that do what they like. sim_world_test.go is the
// world, sim_invariants_test.go has its invariants, and sim_mutation_test.go shows that each of
// them can fail.
var (
	simSeeds   = flag.Int("sim.seeds", 100, "how many runs TestSimulation plays")
	simFirst   = flag.Uint64("sim.first", 1, "the seed of the first of them; each further one has the next seed")
	simSeed    = flag.Uint64("sim.seed", 0, "the one run that TestSimulation plays")
	simEdition = flag.Int("sim.edition", len(editions), "the edition of that run: the first has only iterations, people and crashes, and each later one adds something")
)

// The same seed gives the same run: every tenth run is played twice.
func TestSimulation(t *testing.T) {
	t.Parallel()
	if *simSeed != 0 {
		playTwice(t, *simSeed, draw(*simSeed, *simEdition))
		return
	}
	reached := newReached()
	var next atomic.Uint64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for !t.Failed() {
				n := next.Add(1) - 1
				if n >= uint64(seeds(1)) {
					return
				}
				seed := *simFirst + n
				play := playOnce
				if seed%10 == 1 {
					play = playTwice
				}
				reached.take(play(t, seed, draw(seed, len(editions))))
			}
		})
	}
	workers.Wait()
	reached.seen.report(t, seeds(1) >= 10_000 && !t.Failed())
	if seeds(1) < 100 || t.Failed() {
		return
	}
	for _, word := range worthReaching {
		if !reached.words[word] {
			t.Errorf("%d runs, and never %q: the simulation has become too tame", seeds(1), word)
		}
	}
	if seeds(1) < 2000 {
		return
	}
	for _, word := range rarelyReached {
		if !reached.words[word] {
			t.Errorf("%d runs, and never %q: the simulation has become too tame", seeds(1), word)
		}
	}
	t.Logf("%d runs, %d of them twice, %d steps, %s of virtual time", seeds(1), (seeds(1)+9)/10, reached.steps, reached.time.Round(time.Hour))
}

// draw returns the scene of a seed in an edition.
func draw(seed uint64, edition int) scenario { return editions[edition-1](seed) }

// worthReaching has to happen in some of a hundred runs, else the invariants test too little.
var worthReaching = []string{
	"agent.started", "agent.started again", "agent.parked", "agent.exited", "agent.finished",
	"decided iteration.begin", "decided agent.start", "decided agent.steer", "decided agent.release", "decided agent.abort", "decided agent.kill",
	"effect.failed agent.start", "effect.failed agent.steer",
	"command.delivered live", "command.delivered prompt", "command.delivered loop", "command.refused", "command.withdrawn",
	"completion.accepted", "completion.refused", "loop.paused", "loop.unpaused", "loop.configured", "loop.resumed",
	"timer.fired idle", "timer.fired iteration", "timer.fired exitGrace", "timer.fired restart",
	"iteration.ended done", "iteration.ended failed", "iteration.ended idle", "iteration.ended overlong", "iteration.ended aborted", "iteration.ended interrupted",
	"loop.ended iterations", "loop.ended stop", "loop.ended kill", "loop.ended interrupt", "loop.ended restarts",
	"loop.ended agent", "loop.ended fault",
}

// rarelyReached has to happen in some of two thousand runs; in a hundred it may be missing by
// chance.
var rarelyReached = []string{
	"decided check.cancel", "effect.failed iteration.check", "effect.failed repo.commit", "clock.jumped", "budget.warned",
	"breaker.tripped hint", "breaker.tripped backoff", "breaker.tripped stop", "guardrail.snapshotted", "guardrail.edited", "agent.replaced", "repo.committed",
	"timer.fired tool", "timer.fired limit", "timer.fired breaker",
	"iteration.ended overspent", "iteration.ended limited",
	"loop.ended cost", "loop.ended tokens", "loop.ended duration", "loop.ended environment", "loop.ended config", "loop.ended response",
	"loop.ended doneFile", "loop.ended checklist", "loop.ended auth", "loop.ended quota", "loop.ended outage", "loop.ended breaker",
	"loop.ended stories", "stories.judged", "story.reviewed", "story.reviewed by one of several", "iteration.started implement", "iteration.started review", "iteration.started review-fix",
	"loop.ended blocked", "loop.ended wait", "loop.ended promise", "loop.ended disk",
	"effect.failed iteration.begin", "fault.raised",
	"agent.noticed " + event.NoticeLingering, "agent.noticed " + event.NoticeBackground, "timer.fired background",
	"guardrail.started beside another", "guardrail.ended before one that started first", "decided check.cancel of several",
	"question.asked", "question.answered",
	"decided schedule.observe", "schedule.observed", "loop.held", "loop.released", "agent.held", "timer.fired held",
	"holdout.ended", "holdout.checked",
	"loop.fenced", "loop.ended fenced", "loop.moved",
	"effect.failed iteration.check after results", "decided check.cancel of the first look", "repo.unreadable",
}

// reached is what happened in some run.
type reached struct {
	mu    sync.Mutex
	words map[string]bool
	seen  seen
	steps int
	time  time.Duration
}

func newReached() *reached { return &reached{words: map[string]bool{}, seen: seen{}} }

// take notes what happened in a run.
func (r *reached) take(w *world) {
	events, err := w.journal()
	if err != nil {
		return // judged already
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps += w.steps
	r.time += w.now.Sub(w.began)
	r.readGuardrailRuns(events)
	w.seen.read(events)
	r.seen.add(w.seen)
	for _, e := range events {
		word := string(e.Type)
		r.words[word] = true
		for _, key := range []string{"do", "how", "name", "outcome", "reason", "step", "what", "mode"} {
			if value := e.Field(key); len(value) > 2 {
				r.words[word+" "+strings.Trim(string(value), `"`)] = true
			}
		}
		if e.Type == event.TypeAgentStarted && string(e.Field("reused")) == "true" {
			r.words[word+" again"] = true
		}
		if e.Type == event.TypeStoryReviewed && string(e.Field("open")) == "true" {
			r.words[word+" by one of several"] = true
		}
	}
}

// seeds returns how many runs to play if each costs as much as each plain runs.
func seeds(each int) int {
	n := *simSeeds
	if testing.Short() {
		n /= 4
	}
	return max(1, n/each)
}

// Runs that once went wrong, each under the name of what was wrong.
func TestSimulationPastFailures(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "sim", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no runs: %v", err)
	}
	play := playTwice
	if testing.Short() {
		play = playOnce // make sim compares two runs of each
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			played := 0
			for line := range strings.Lines(string(content)) {
				var seed uint64
				var edition int
				if _, err := fmt.Sscanf(line, "edition %d, seed %d", &edition, &seed); err != nil {
					continue
				}
				played++
				play(t, seed, draw(seed, edition))
			}
			if played == 0 {
				t.Error("the file names no seed")
			}
		})
	}
}

// Small runs of all editions are played again and again, and the first runner dies at another
// change each time, the second one soon after.
func TestSimulationCrashesAtEveryChange(t *testing.T) {
	t.Parallel()
	if *simSeed != 0 {
		t.Skip("one run is asked for")
	}
	step := 1
	if testing.Short() {
		step = 9 // make sim takes each change
	}
	played := 0
	for seed := uint64(1); played < max(2, seeds(500)); seed++ {
		s := draw(seed, int(seed%uint64(len(editions)))+1)
		s.disasters, s.resumes, s.keep = 0, 0, 0
		s.rules.MaximumIterations = min(s.rules.MaximumIterations, 2)
		w, problem := playRun(seed, s, mutation{})
		if problem != nil {
			t.Fatal(report(w, problem))
		}
		if w.runs != 1 || w.changes > 250 || w.facts < 10 {
			continue // not small, or nothing happens
		}
		played++
		for change := 1; change <= w.changes; change += step {
			for _, s.deaths = range [][2]simfs.Loss{
				{simfs.Killed, simfs.Killed}, {simfs.Killed, simfs.PowerLost}, {simfs.PowerLost, simfs.PowerLost}, {simfs.PowerLostAnyOrder, simfs.PowerLostAnyOrder},
			} {
				s.crashAt = [2]int{change, 1 + change%30}
				crashed, problem := playRun(seed, s, mutation{})
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

// playTwice plays a run twice and returns the first.
func playTwice(t *testing.T, seed uint64, s scenario) *world {
	t.Helper()
	first, problem := playRun(seed, s, mutation{})
	if problem == nil {
		var again *world
		again, problem = playRun(seed, s, mutation{})
		if problem == nil {
			problem = compareRuns(first, again)
		}
	}
	if problem != nil {
		t.Error(report(first, problem))
		return first
	}
	if *simSeed != 0 {
		t.Logf("seed %d: %d steps, %d runners, %d crashes, %d agents, %d lines of theirs", seed, first.steps, first.runs, first.crashes, len(first.agents), first.facts)
	}
	return first
}

// playOnce plays a run.
func playOnce(t *testing.T, seed uint64, s scenario) *world {
	t.Helper()
	w, problem := playRun(seed, s, mutation{})
	if problem != nil {
		t.Error(report(w, problem))
	}
	return w
}

// playRun plays a run and returns the violation that ended it, if any.
func playRun(seed uint64, s scenario, broken mutation) (w *world, problem error) {
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
	w.play()
	return w, nil
}

// report describes a failure for a person, and how to replay it.
func report(w *world, problem error) string {
	edition := max(1, w.scenario.edition)
	return fmt.Sprintf("seed %d: %v\n\n%s\n\nreplay: go test ./internal/core/loop -run 'TestSimulation$' -sim.seed=%d -sim.edition=%d -v",
		w.seed, problem, w.story(30), w.seed, edition)
}

// compareRuns finds the first difference of two runs with the same seed.
func compareRuns(a, b *world) error {
	for i := range max(len(a.trace), len(b.trace)) {
		if x, y := at(a.trace, i), at(b.trace, i); x != y {
			return violation{sameRun, fmt.Sprintf("once %q, and then %q", x, y)}
		}
	}
	x, y := files(a.disk, loopDir), files(b.disk, loopDir)
	for i := range max(len(x), len(y)) {
		if at(x, i) != at(y, i) {
			return violation{sameRun, fmt.Sprintf("once the file %q, and then %q", at(x, i), at(y, i))}
		}
	}
	for _, file := range x {
		one, err1 := a.disk.ReadFile(file)
		other, err2 := b.disk.ReadFile(file)
		if !bytes.Equal(one, other) || err1 != nil || err2 != nil {
			return violation{sameRun, fmt.Sprintf("%s differs: %s %v %v", file, firstDifference(one, other), err1, err2)}
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
