package mcp

import (
	"math"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

func TestHintsNameTools(t *testing.T) {
	for hint, want := range map[string]string{
		"'ralph start night --resume' resumes it, --fresh archives it first": "ralph_start with name night and resume resumes it, another name begins another loop",
		"'ralph attach night' shows it, 'ralph stop night' ends it":          "ralph_status with loop night shows it, ralph_stop with loop night ends it",
		"'ralph answer night' lists the open questions":                      "ralph_status with loop night lists the open questions",
		"wait for its end, or ask for it with --allow-shared-worktree":       "wait for its end, or ask a person", // no client allows it
		"'ralph list --all' shows the loops":                                 "ralph_list with all shows the loops",
		"'ralph trust' shows what they run":                                  "'ralph trust' shows what they run", // a person types it
	} {
		if got := asTools(hint); got != want {
			t.Errorf("%s became %s, want %s", hint, got, want)
		}
	}
	for reason, want := range map[event.Reason]string{event.ReasonIterations: "maxIterations", event.ReasonCost: "maxCost", event.ReasonDuration: "maxDuration"} {
		if got := asTools(projector.NextStep("night", &event.LoopEnded{Reason: reason})); !strings.Contains(got, want) || strings.Contains(got, "--") {
			t.Errorf("after the end by %s: %s", reason, got)
		}
	}
}

func TestCursorsOutsideJournal(t *testing.T) {
	for name, c := range map[string]struct {
		err  journal.RangeError
		want string
	}{
		"beyond its end": {journal.RangeError{Seq: math.MaxInt64, Last: 16}, "the journal ends with event 16"},
		"dropped":        {journal.RangeError{Seq: 5, First: 100}, "next step: a cursor of 99 begins"},
	} {
		if got := problem(unreadable(&c.err)).Error(); !strings.Contains(got, c.want) || strings.Contains(got, "1844") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
