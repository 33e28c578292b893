package planning

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/story"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

func day(n, hour int) time.Time { return time.Date(2025, 6, n, hour, 0, 0, 0, time.UTC) }

func worker(name string, started time.Time, cost *float64) loop {
	return loop{Status: registry.Status{
		Entry: registry.Entry{Name: name, Started: started},
		Head:  registry.Summary{Status: event.StatusCompleted, Iteration: 7, MaximumIterations: 15, Agent: "claude", Cost: cost},
	}}
}

func TestSummaryOfAPlan(t *testing.T) {
	cost, none := 1.25, 0.5
	s := summary{
		list: &story.List{Project: "demo", BranchName: "ralph/search", Description: "A search\nover | all <b>notes", Stories: []story.Story{
			{ID: "US-001", Title: "Index", Passes: true, ReviewStatus: event.StoryApproved, ReviewCount: 1},
			{ID: "US-002", Title: "A | box\x1b[31m", Passes: true, ReviewStatus: event.StoryApproved, ReviewCount: 5, ReviewFeedback: story.CapPrefix + " no test\nfor empty input"},
			{ID: "US-003", Title: "Sort", ReviewStatus: event.StoryChangesRequested, ReviewCount: 2, ReviewFeedback: "x"},
			{ID: "US-004", Title: "Help"},
			{ID: "US-005", Title: "Quick", Passes: true},
			{ID: "US-006", Title: "Odd", Passes: true, ReviewStatus: event.StoryNeedsReview},
		}},
		progress: "# Ralph Progress Log\nStarted: 2025-06-15\n",
		loops:    []loop{worker("before", day(14, 9), &none), worker("earlier", day(15, 9), &none), worker("first", day(15, 12), &cost), worker("second", day(16, 9), nil)},
		last:     day(15, 10),
		now:      day(17, 18),
	}
	want := `# Plan: demo

A search over \| all &lt;b>notes

- Stories: 3 of 6 done
- Reviews: 8; 1 of the stories were approved at the cap
- Branch: ralph/search
- Dates: 2025-06-15 to 2025-06-17

## Stories

| story | title | state | reviews |
|---|---|---|---|
| US-001 | Index | done | 1 |
| US-002 | A \| box | done, approved at the cap | 5 |
| US-003 | Sort | changes requested | 2 |
| US-004 | Help | not begun | 0 |
| US-005 | Quick | done, not reviewed | 0 |
| US-006 | Odd | needs a review | 0 |

## Open after the last review

- US-002: no test for empty input

## Loops

| loop | started | status | iterations | agent | cost |
|---|---|---|---|---|---|
| first | 2025-06-15 | completed | 7 of 15 | claude | $1.25 |
| second | 2025-06-16 | completed | 7 of 15 | claude | unknown |

Total cost: at least $1.25, as some of it is unknown
`
	if diff := cmp.Diff(want, s.text()); diff != "" {
		t.Error(diff)
	}
}

func TestSummaryOfDamagedPlan(t *testing.T) {
	s := summary{now: day(17, 18)}
	if got := s.text(); !strings.Contains(got, "tasks.json could not be read") || !strings.Contains(got, "- Dates: until 2025-06-17\n") {
		t.Errorf("%s", got)
	}
}

// When a plan was begun, if progress.txt does not say so or says nonsense.
func TestBeginningOfAPlan(t *testing.T) {
	loops := []loop{worker("old", day(10, 9), nil), worker("new", day(16, 9), nil)}
	for name, row := range map[string]struct {
		s    summary
		want time.Time
	}{
		"progress.txt":       {summary{progress: "Started: 2025-06-15\n", loops: loops}, day(15, 0)},
		"with Windows lines": {summary{progress: "x\r\nStarted: 2025-06-15\r\n"}, day(15, 0)},
		"in the future":      {summary{progress: "Started: 2035-06-15\n", loops: loops}, day(10, 9)},
		"the first loop":     {summary{progress: "Started: {{DATE}}\n", loops: loops, last: day(12, 0)}, day(16, 9)},
		"the archive before": {summary{last: day(12, 0)}, day(12, 0)},
		"nothing is known":   {summary{}, time.Time{}},
	} {
		row.s.now = day(17, 18)
		if got := row.s.began(); !got.Equal(row.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
