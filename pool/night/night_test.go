package night

import (
	"flag"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

var (
	seeds = flag.Int("night.seeds", 200, "how many nights TestNight plays")
	first = flag.Uint64("night.first", 1, "the seed of the first of them; each further one has the next seed")
)

func TestNight(t *testing.T) {
	t.Parallel()
	var next atomic.Uint64
	var mu sync.Mutex
	var all Stats
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for !t.Failed() {
				n := next.Add(1) - 1
				if n >= uint64(*seeds) {
					return
				}
				stats, err := Run(*first+n, Sound)
				mu.Lock()
				all.add(stats)
				mu.Unlock()
				if err != nil {
					t.Errorf("%v\nreplay: go test ./night -run 'TestNight$' -night.first=%d -night.seeds=1", err, *first+n)
				}
			}
		})
	}
	workers.Wait()
	t.Logf("%d nights: %+v", *seeds, all)
	if !t.Failed() && *seeds >= 200 {
		for what, n := range map[string]int{
			"take-over": all.Claims, "fence": all.Fences, "kill": all.Kills, "stop": all.Stops, "partition": all.Cuts,
			"lost disk": all.Disks, "lost answer": all.LostAnswers, "doubled request": all.Doubled,
		} {
			if n < 20 {
				t.Errorf("only %d times a %s: the nights have become too calm", n, what)
			}
		}
		if all.Lost == 0 {
			t.Error("no take-over lost a race: the nights have become too calm")
		}
	}
}

// Each variant is noticed, so each promise can fail.
func TestNightNoticesBrokenHosts(t *testing.T) {
	for name, variant := range map[string]Variant{
		"no check of the nonce": NoNonce, "no comparison of epochs": NoEpoch, "resumes before it claims": ResumesFirst,
		"takes an unknown answer for a good one": UnknownIsWritten, "seals what is not durable": Unsynced, "forgets what it has taken": Forgetful,
		"writes the epoch after the loop": LateEpoch,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(200) {
				if _, err := Run(seed+1, variant); err != nil {
					t.Logf("noticed in night %d: %.200v", seed+1, err)
					return
				}
			}
			t.Error("200 nights went well")
		})
	}
}

// The same seed gives the same run.
func TestNightsAreRepeatable(t *testing.T) {
	once, err := Run(7, Sound)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Run(7, Sound); err != nil || again != once {
		t.Errorf("once %+v, and then %+v, %v", once, again, err)
	}
}
