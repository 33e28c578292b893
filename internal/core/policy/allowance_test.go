package policy_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestAllowanceOfResumedLoop(t *testing.T) {
	used := []event.Payload{opened, event.AgentUsed{In: 900, Out: 200, USD: usd(5.25)}, closed} // until 4 s after the start
	for name, c := range map[string]struct {
		rules event.Rules
		want  policy.Allowance
	}{
		"a limit that is not used up": {event.Rules{MaximumIterations: 10}, policy.Allowance{Text: "up to 9 more iterations"}},
		"one iteration":               {event.Rules{MaximumIterations: 1}, policy.Allowance{Text: "1 more iteration", Raise: map[string]string{"maximumIterations": "2"}}},
		"money is left": {event.Rules{MaximumIterations: 10, Limits: event.LimitRules{Cost: 8}},
			policy.Allowance{Text: "up to 9 more iterations, $2.75 more"}},
		"all limits": {event.Rules{MaximumIterations: 1, Limits: event.LimitRules{Cost: 5, Tokens: 1000, Duration: event.Duration(2 * time.Second)}},
			policy.Allowance{Text: "1 more iteration, $2.50 more, 500 tokens more, 1s more", Raise: map[string]string{
				"maximumIterations": "2", "limits.cost": "7.75", "limits.tokens": "1600", "limits.duration": "4s"}}},
	} {
		t.Run(name, func(t *testing.T) {
			b := spend(t, new(budget), append([]event.Payload{started(c.rules)}, used...)...)
			if diff := cmp.Diff(c.want, b.Allowance(c.rules)); diff != "" {
				t.Error(diff)
			}
			for range 100 { // however many iterations a loop has used, so many more are allowed
				spend(t, b, opened, closed)
			}
			c.rules.MaximumIterations = 100
			if got := b.Allowance(c.rules).Raise["maximumIterations"]; got != "111" {
				t.Errorf("after 101 of 100 iterations, the limit becomes %s", got)
			}
		})
	}
}
