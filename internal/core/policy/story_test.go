package policy_test

import (
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/internal/testkit/testevent"
	"github.com/ralph-loop/ralph/journal/event"
)

// noon is the start of the stories in these tests.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// happened returns a payload as an event that was read from a journal.
func happened(t testing.TB, at time.Time, p event.Payload) event.Event {
	t.Helper()
	return testevent.Of(1, at, event.Encode(p, "story"))
}

// fold passes events to a policy, each with the loop as it was before.
func fold(to any, l *policy.Lifecycle, at time.Time, p event.Payload) {
	was := *l
	l.Apply(at, p)
	switch to := to.(type) {
	case *policy.Breaker:
		to.Apply(at, p, &was, &policy.Tail{})
	case *policy.Budget:
		to.Apply(at, "story", p, &was)
	case *policy.Commands:
		to.Apply("story", p, &was)
	case *policy.Completion:
		to.Apply(l.Iteration, p, &was)
	case *policy.Escalation:
		to.Apply(p, &was)
	case *policy.Failover:
		to.Apply(at, p, &was)
	case *policy.FileChanges:
		to.Apply(l.Iteration, p)
	case *policy.GivenSettings:
		to.Apply(p, &was)
	case *policy.Idle:
		to.Apply(at, p)
	case *policy.Limits:
		to.Apply(at, p, was.ID)
	case *policy.Restart:
		to.Apply(at, p, &was)
	case *policy.Stories:
		to.Apply(p, &was)
	case *policy.Verification:
		to.Apply(p, &was)
	}
}

// by returns a loop with these rules and nothing else.
func by(r event.Rules) *policy.Lifecycle { return &policy.Lifecycle{Rules: r} }

// budget is a Budget with its loop.
type budget struct {
	policy.Budget `json:"budget"`
	Loop          policy.Lifecycle `json:"loop"`
}

func (b *budget) fold(at time.Time, p event.Payload) { fold(&b.Budget, &b.Loop, at, p) }
func (b *budget) Over() (event.Reason, string)       { return b.Budget.Over(b.Loop.Rules) }
func (b *budget) Late() string                       { return b.Budget.Late(b.Loop.Rules) }
func (b *budget) Until() (time.Time, bool)           { return b.Budget.Until(b.Loop.Rules) }
func (b *budget) Overspent() string                  { return b.Budget.Overspent(b.Loop.Rules) }
func (b *budget) Count() units.Count                 { return b.Budget.Count(b.Loop.Rules) }
