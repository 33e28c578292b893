package main

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
)

// A trial is one play of one arm. All that chance decides in it follows from Seed.
type trial struct {
	N     int     `json:"n"`
	Block int     `json:"block"`
	Task  string  `json:"task"`
	Arm   string  `json:"arm"`
	Model string  `json:"model"`
	Rate  float64 `json:"rate"` // λ
	Seed  uint64  `json:"seed"`
}

var (
	mainArms  = []string{"once", "goal", "while", "visible", "heldout"}
	ablations = []string{"same", "mute"}
	ablated   = map[string]bool{"s1": true, "large-1": true}
	models    = []string{"honest", "lazy", "gaming", "forgetful", "looping"}
	rates     = []float64{0, 0.05, 0.2}
)

const blocks = 10

// design lists all trials in the order in which they are played. PLAN.md has the reasons.
func design(all []*task) []trial {
	var trials []trial
	for b := range blocks {
		var block []trial
		for i, t := range all {
			arms := mainArms
			if ablated[t.name] {
				arms = append(arms[:len(arms):len(arms)], ablations...)
			}
			for _, arm := range arms {
				block = append(block, trial{
					Block: b + 1, Task: t.name, Arm: arm, Model: models[(i+b)%len(models)],
					Rate: rates[(i+b+2*(b/len(models)))%len(rates)], Seed: hash(fmt.Sprint(t.name, b)),
				})
			}
		}
		rand.New(rand.NewPCG(uint64(b), 2)).Shuffle(len(block), func(i, j int) { block[i], block[j] = block[j], block[i] })
		trials = append(trials, block...)
	}
	for i := range trials {
		trials[i].N = i + 1
	}
	return trials
}

// hash makes a seed of a text.
func hash(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

// draw returns the generator for one decision of a trial.
func (t trial) draw(what string, n int) *rand.Rand {
	return rand.New(rand.NewPCG(t.Seed, hash(fmt.Sprint(what, n))))
}

var faults = []string{"429", "429-reset", "529", "half-open", "login", "silent", "long-line", "kill-agent", "kill-loop", "disk"}

// fault says what goes wrong with request n; empty if nothing does.
func (t trial) fault(n int) string {
	rng := t.draw("fault", n)
	if rng.Float64() >= t.Rate {
		return ""
	}
	return faults[rng.IntN(len(faults))]
}
