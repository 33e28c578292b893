package filter

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
)

// An event of no iteration is of those around it.
func TestIterationsKeepResume(t *testing.T) {
	events := []event.Event{
		{Seq: 1, Type: event.TypeLoopStarted}, {Seq: 2, Iter: 1, Type: event.TypeIterationStarted}, {Seq: 3, Type: event.TypeLoopResumed},
		{Seq: 4, Iter: 2, Type: event.TypeIterationStarted}, {Seq: 5, Type: event.TypeLoopResumed}, {Seq: 6, Iter: 3, Type: event.TypeIterationStarted},
	}
	for iterations, want := range map[string][]event.Seq{
		"": {1, 2, 3, 4, 5, 6}, "1": {2, 3}, "2": {4, 5}, "2..": {4, 5, 6}, "1..2": {2, 3, 4, 5}, "3": {6}, "0": {1, 3, 5},
	} {
		keep, err := New(Options{Iterations: iterations}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		var got []event.Seq
		for _, e := range events {
			if keep.Keeps(e) {
				got = append(got, e.Seq)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q keeps %v, not %v", iterations, got, want)
		}
	}
}

func TestUnknownTypeNamesKnownTypes(t *testing.T) {
	for typo, want := range map[string]string{
		"agent.sad":   `did you mean "agent.said"?`,
		"tool":        `did you mean "tool."?`,
		"Loop.Ended":  `did you mean "loop.ended"?`,
		"ended":       `did you mean "`,
		"nothinglike": "such as loop.ended, ",
	} {
		err := checkTypes([]string{typo})
		hinted, ok := errors.AsType[*cli.Failure](err)
		if !ok || !strings.HasPrefix(hinted.NextStep, want) || !strings.Contains(hinted.NextStep, " guardrail.ended; loop. means all") {
			t.Errorf("%s: %v, %+v", typo, err, hinted)
		}
	}
}
