package render_test

import (
	"testing"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

func TestResultSaysWhatIsKnown(t *testing.T) {
	began := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	cost := func(usd float64) *float64 { return &usd }
	view := projector.View{
		Summary: registry.Summary{Status: event.StatusCompleted, Since: began, At: began.Add(12 * time.Minute)}, Work: projector.Work{Begun: 3},
		Ended:    &event.LoopEnded{Status: event.StatusCompleted, Changed: &event.Difference{Files: 2, Insertions: 26, Deletions: 4}},
		Spending: projector.Spending{Used: event.Usage{In: 10, USD: cost(0.01)}},
	}
	for want, change := range map[string]func(v *projector.View){
		"3 iterations, 2 files +26 −4, $0.01, 12m0s":          func(*projector.View) {},
		"3 iterations, 2 files +26 −4, cost unknown, 12m0s":   func(v *projector.View) { v.Used.USD = nil },
		"3 iterations, 2 files +26 −4, at least $0.01, 12m0s": func(v *projector.View) { v.CostUnknown = true },
		"3 iterations, 2 files +26 −4, 12m0s":                 func(v *projector.View) { v.Used = event.Usage{USD: cost(0)} },
		"3 iterations, +2 −1, $0.01, 12m0s": func(v *projector.View) {
			v.Ended = &event.LoopEnded{Changed: &event.Difference{Insertions: 2, Deletions: 1}}
		},
		"3 iterations, $0.01, 12m0s":                  func(v *projector.View) { v.Ended = &event.LoopEnded{} },
		"3 iterations, no file changed, $0.01, 12m0s": func(v *projector.View) { v.Ended = &event.LoopEnded{Changed: &event.Difference{}} },
		"2 iterations (1 more refunded), $0.01, 12m0s": func(v *projector.View) {
			v.Refunded, v.Ended = 1, nil
		},
	} {
		v := view
		change(&v)
		if got := render.Result(v); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
