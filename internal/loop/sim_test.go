package loop_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/ralph-loop/ralph/internal/simfs"
)

// The simulation plays nights of a loop: the real engine, driver, policies and
// journal, on a disk that fails, among people, agents and processes that do what they
// like. See sim_world_test.go for the world and sim_invariants_test.go for what has
// to hold in it.
var (
	simSeeds = flag.Int("sim.seeds", 100, "how many nights TestSimulation plays")
	simSeed  = flag.Uint64("sim.seed", 0, "the one night that TestSimulation plays")
)

func TestSimulation(t *testing.T) {
	if *simSeed != 0 {
		play2(t, *simSeed)
		return
	}
	for seed := range uint64(*simSeeds) {
		play2(t, seed+1)
		if t.Failed() {
			return
		}
	}
}

// play2 plays a night twice.
func play2(t *testing.T, seed uint64) {
	t.Helper()
	w, problem := playNight(seed, newScene(seed), mutation{})
	if problem != nil {
		t.Errorf("seed %d: %v\n\n%s\n\nreplay: go test ./internal/loop -run TestSimulation -sim.seed=%d -v", seed, problem, w.story(40), seed)
		return
	}
	t.Logf("seed %d: %d steps, %d runners, %d crashes, %d agents, %d facts", seed, w.steps, w.runs, w.crashes, len(w.agents), w.facts)
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

var _ = fmt.Sprint
var _ simfs.FS
