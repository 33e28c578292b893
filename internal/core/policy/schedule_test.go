package policy_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// observed is a loop that may use 40% of a quota of five hours, after an observation.
func observed(p event.ScheduleObserved) (s policy.Schedule, l policy.Lifecycle) {
	l.Rules.Schedule = &event.ScheduleRules{Windows: []event.Window{{Name: "5h", Span: event.Duration(5 * time.Hour), Percent: 40}}}
	s.Apply(noon, event.Decided{Do: event.DoObserve})
	s.Apply(noon, p)
	return s, l
}

func TestQuotaHolds(t *testing.T) {
	said := noon.Add(-time.Hour)
	for name, tt := range map[string]struct {
		window event.QuotaWindow
		until  time.Duration // from noon; 0 is no hold
	}{
		"up to the stated time":         {event.QuotaWindow{Minutes: 300, Used: 40, Resets: "2026-11-21T13:00:00Z"}, time.Hour},
		"without one, for its length":   {event.QuotaWindow{Minutes: 300, Used: 40}, 4 * time.Hour},
		"less than is allowed":          {event.QuotaWindow{Minutes: 300, Used: 39.9, Resets: "2026-11-21T13:00:00Z"}, 0},
		"a window of another length":    {event.QuotaWindow{Minutes: 301, Used: 99, Resets: "2026-11-21T13:00:00Z"}, 0},
		"one that has begun again":      {event.QuotaWindow{Minutes: 300, Used: 99, Resets: "2026-11-21T12:00:00Z"}, 0},
		"one that has no known end":     {event.QuotaWindow{Used: 99}, 0},
		"a time that cannot be read":    {event.QuotaWindow{Minutes: 300, Used: 99, Resets: "soon"}, 4 * time.Hour},
		"a length that was over before": {event.QuotaWindow{Minutes: 60, Used: 99}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s, l := observed(event.ScheduleObserved{Accounts: []event.AccountObserved{{At: said, Windows: []event.QuotaWindow{tt.window}}}})
			hold := s.Hold(&l, noon)
			if got := hold != nil; got != (tt.until > 0) || got && !hold.Until.Equal(noon.Add(tt.until)) {
				t.Errorf("got %+v, want a hold of %s", hold, tt.until)
			}
		})
	}
}

// A time of day may have a fraction that the clock of the journal does not have.
func TestStartIsInMilliseconds(t *testing.T) {
	at := noon.Add(time.Hour + 999*time.Microsecond)
	l := policy.Lifecycle{When: &event.When{At: at}}
	l.Rules.Schedule = &event.ScheduleRules{}
	var s policy.Schedule
	if hold := s.Hold(&l, noon); hold == nil || !hold.Until.Equal(noon.Add(time.Hour)) {
		t.Errorf("got %+v", hold)
	}
	if hold := s.Hold(&l, noon.Add(time.Hour)); hold != nil {
		t.Errorf("at its time: %+v", hold)
	}
}

// A vendor may say more than a state can hold.
func TestObservationIsBounded(t *testing.T) {
	var p event.ScheduleObserved
	for i := range 1000 {
		p.Spent = append(p.Spent, event.Spent{Window: fmt.Sprint(i)})
		p.Accounts = append(p.Accounts, event.AccountObserved{Windows: make([]event.QuotaWindow, 1000)})
	}
	p.After = &event.LoopObserved{Name: strings.Repeat("x", 1<<20)}
	s, _ := observed(p)
	text, err := json.Marshal(s)
	if err != nil || len(text) > 64<<10 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if len(p.Accounts[0].Windows) != 1000 {
		t.Error("the event was changed")
	}
}
