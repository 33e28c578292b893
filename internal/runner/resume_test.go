package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
)

// A resume looks once at each segment and each iteration: ten times as many cost ten times as much,
// and not a hundred times. What it allocates grows with what it lists.
func TestMissingIterationsAreListedOnce(t *testing.T) {
	allocated := func(n int) float64 {
		r := &runner{Config: Config{Dir: t.TempDir()}}
		for _, folder := range []string{"journal", loopstate.IterationsDir} {
			if err := os.Mkdir(filepath.Join(r.Dir, folder), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		for i := 1; i <= n; i++ {
			err := os.WriteFile(filepath.Join(r.Dir, "journal", fmt.Sprintf("%06d-i%04d.jsonl", i, i)), nil, 0o600)
			if i != 2 {
				err = errors.Join(err, os.WriteFile(filepath.Join(r.Dir, loopstate.IterationsDir, fmt.Sprintf("%03d.json", i)), nil, 0o600))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		state := &loopstate.State{Last: &loopstate.Telemetry{N: n}}
		return testing.AllocsPerRun(3, func() {
			if missing := r.missingIterations(state); len(missing) != 1 || !missing[2] {
				t.Errorf("%v are missing", missing)
			}
		})
	}
	few, many := allocated(10), allocated(100)
	if many > 20*few {
		t.Errorf("%.0f allocations for 10 iterations, %.0f for 100", few, many)
	}
}
