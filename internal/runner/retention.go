package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/journal"
)

// firstKept returns the first iteration that is still in the journal; 0 if it has none, or all.
func firstKept(dir string) int {
	segments, err := journal.Segments(dir)
	if err != nil || len(segments) == 0 || segments[0].Ordinal == 1 {
		return 0
	}
	return segments[0].Iteration
}

// removeDropped removes logs of guardrails and telemetry of iterations whose segments
// journal.keepIterations has dropped. It compares with the segments that exist, so the next call
// removes what this one could not.
func (r *runner) removeDropped() {
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
	remove(filepath.Join(r.Dir, loopstate.IterationsDir), func(name string) (n int) {
		if digits, ok := strings.CutSuffix(name, ".json"); ok {
			_, _ = fmt.Sscanf(digits+"\n", "%d\n", &n)
		}
		return n
	})
}

// logged returns the iteration of a guardrail's log; 0 for any other file.
func logged(name string) (n int) {
	if number, slug, ok := strings.Cut(strings.TrimPrefix(name, "guardrail_"), "_"); ok &&
		strings.HasPrefix(name, "guardrail_") && strings.HasSuffix(slug, ".log") {
		_, _ = fmt.Sscanf(number+"\n", "%d\n", &n)
	}
	return n
}
