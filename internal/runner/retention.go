package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/projector"
)

// firstKept is the first iteration of which the journal still has segments; 0 where it has none, or all.
func firstKept(dir string) int {
	segments, err := journal.Segments(dir)
	if err != nil || len(segments) == 0 || segments[0].Ordinal == 1 {
		return 0
	}
	return segments[0].Iteration
}

// forget removes what lies beside the journal of iterations whose segments journal.keepIterations has dropped: logs of
// guardrails and telemetry. It goes by the segments that are there, so that what a killed runner left is removed by the next one. What
// cannot be removed stays until then.
func (r *runner) forget() {
	if r.Settings.Journal.KeepIterations == 0 {
		return
	}
	first := firstKept(r.Dir)
	if first <= 1 {
		return
	}
	remove := func(folder string, iteration func(name string) int) {
		entries, _ := os.ReadDir(folder)
		for _, entry := range entries {
			if n := iteration(entry.Name()); entry.Type().IsRegular() && 0 < n && n < first {
				_ = os.Remove(filepath.Join(folder, entry.Name()))
			}
		}
	}
	remove(r.Dir, logged)
	remove(filepath.Join(r.Dir, projector.IterationsDir), func(name string) (n int) {
		if digits, ok := strings.CutSuffix(name, ".json"); ok {
			_, _ = fmt.Sscanf(digits+"\n", "%d\n", &n)
		}
		return n
	})
}

// logged returns the iteration that a guardrail's log is of; 0 for any other file.
func logged(name string) (n int) {
	if number, slug, ok := strings.Cut(strings.TrimPrefix(name, "guardrail_"), "_"); ok && strings.HasPrefix(name, "guardrail_") && strings.HasSuffix(slug, ".log") {
		_, _ = fmt.Sscanf(number+"\n", "%d\n", &n)
	}
	return n
}
