// Package testseed gives property tests a fixed seed, so that no run of the tests differs from the
// one before. A package with tests of pgregory.net/rapid imports it in one of them:
//
//	import _ "github.com/ralph-loop/ralph/internal/testkit/testseed"
//
// RALPH_TEST_SEED is another seed, or 0 for a new one in each run; 'make discover' sets it. The
// flag -rapid.seed overrides both. rapid keeps an input that fails in testdata/rapid, and tries it
// first in later runs, whatever the seed.
package testseed

import (
	"flag"
	"os"

	_ "pgregory.net/rapid" // has defined its flags
)

func init() {
	seed := os.Getenv("RALPH_TEST_SEED")
	if seed == "" {
		seed = "1"
	}
	if err := flag.Set("rapid.seed", seed); err != nil {
		panic("RALPH_TEST_SEED: " + err.Error())
	}
}
