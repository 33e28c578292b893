package journaltool

import (
	"slices"
	"testing"
	"time"

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
		keeps, err := LogOptions{Iterations: iterations}.Keeps(time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		var got []event.Seq
		for _, e := range events {
			if keeps(e) {
				got = append(got, e.Seq)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q keeps %v, not %v", iterations, got, want)
		}
	}
}
