package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

var three = event.Rules{Restart: event.RestartRules{Max: 5}, Limits: event.LimitRules{MaxOutage: event.Duration(time.Hour)}, Agents: []event.Agent{{Name: "a"}, {Name: "b"}, {Name: "c"}}}

// An outage may pass; that an agent failed too often does not.
func TestBrokenAgentIsGone(t *testing.T) {
	var a policy.AgentRecord
	a.Limits.Since, a.Limits.NotUntil = noon.Add(-2*time.Hour), noon.Add(time.Minute)
	if got := a.Availability(three); got.Reason != event.ReasonOutage || got.Gone() {
		t.Errorf("in an outage: %+v", got)
	}
	a.Restart.Failures = three.Restart.Max + 1
	if got := a.Availability(three); got.Reason != event.ReasonRestarts || !got.Gone() {
		t.Errorf("in an outage and broken: %+v", got)
	}
}

func TestFailoverChoosesAgent(t *testing.T) {
	now := noon
	for name, row := range map[string]struct {
		agents [3]policy.Availability // the first is the current agent's
		want   int
		ok     bool
	}{
		"the first, where all can":              {[3]policy.Availability{}, 0, true},
		"the next, where the first waits":       {[3]policy.Availability{{Until: now.Add(1)}}, 1, true},
		"the first again, when its time is up":  {[3]policy.Availability{{Until: now}}, 0, true},
		"the last, where the others cannot":     {[3]policy.Availability{{Until: now.Add(1)}, {Reason: event.ReasonAuth}}, 2, true},
		"the earliest, where all wait":          {[3]policy.Availability{{Until: now.Add(3)}, {Until: now.Add(1)}, {Until: now.Add(2)}}, 1, true},
		"the preferred of two that are as late": {[3]policy.Availability{{Until: now.Add(3)}, {Until: now.Add(2)}, {Until: now.Add(2)}}, 1, true},
		"none, where none is to be tried":       {[3]policy.Availability{{Reason: event.ReasonAgent}, {Reason: event.ReasonAuth}, {Reason: event.ReasonQuota}}, -1, false},
		"one in a long outage, while another may come back": {
			[3]policy.Availability{{Until: now.Add(1), Reason: event.ReasonOutage, Passes: true}, {Until: now.Add(2)}, {Reason: event.ReasonAgent}}, 0, true},
		"none, where all are in long outages or broken": {
			[3]policy.Availability{{Until: now.Add(1), Reason: event.ReasonOutage, Passes: true}, {Reason: event.ReasonAuth}, {Reason: event.ReasonAgent}}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := &policy.Failover{Aside: make([]policy.AgentRecord, 3)}
			for i, a := range row.agents[1:] {
				aside := &f.Aside[i+1]
				aside.Reason = a.Reason
				if a.Passes {
					aside.Reason, aside.Limits.Since = "", noon.Add(-2*time.Hour)
				}
				aside.Limits.NotUntil = a.Until
			}
			got, ok := f.Choose([]int{0, 1, 2}, row.agents[0], now, three)
			if ok != row.ok || ok && got != row.want {
				t.Errorf("chosen is %d, %v; want %d, %v", got, ok, row.want, row.ok)
			}
		})
	}
}

// books are the counts of a loop with three agents.
type books struct {
	policy.Failover
}

func (b *books) apply(t *testing.T, at time.Time, payloads ...event.Payload) {
	t.Helper()
	for _, p := range payloads {
		b.Failover.Apply(at, p, by(three))
	}
	again := throughJSON(t, b)
	if diff := cmp.Diff(b, again); diff != "" {
		t.Errorf("not the same after a checkpoint:\n%s", diff)
	}
}

var overloaded = []event.Payload{
	event.IterationStarted{N: 1}, event.AgentFinished{Outcome: "error", Error: "529", Kind: event.KindOverload},
	event.IterationEnded{N: 1, Outcome: event.OutcomeLimited, Error: "529"},
}

func TestFailoverCountsPerAgent(t *testing.T) {
	b := &books{}
	b.apply(t, noon, event.LoopStarted{ID: "L"})
	b.apply(t, noon, overloaded...)
	first := b.Limits
	b.apply(t, noon, event.AgentReplaced{From: 0, To: 1, Why: "overload: 529"})
	if b.Limits.Attempt != 0 || !b.Limits.NotUntil.IsZero() {
		t.Fatalf("the second agent begins with %+v", b.Limits)
	}
	b.apply(t, noon, failed("x", time.Minute), failed("y", time.Minute))
	b.apply(t, noon, event.AgentReplaced{From: 1, To: 0, Why: "again"})
	if b.Limits != first || b.Restart.Failures != 0 || b.Failover.Agent != 0 {
		t.Errorf("the first agent came back to %+v, %+v", b.Limits, b.Restart)
	}
	b.apply(t, noon, event.AgentReplaced{From: 0, To: 1, Why: "again"})
	if b.Restart.Failures != 2 || b.Restart.Error != "y" {
		t.Errorf("the second agent came back to %+v", b.Restart)
	}
	b.apply(t, noon, event.LoopResumed{})
	if b.Failover.Agent != 0 || len(b.Failover.Aside) != 0 || b.Restart.Failures != 0 {
		t.Errorf("a person who resumes the loop finds %+v", b)
	}
}

func TestOtherAgentEndsOutage(t *testing.T) {
	b := &books{}
	b.apply(t, noon, event.LoopStarted{ID: "L"})
	b.apply(t, noon, overloaded...)
	b.apply(t, noon, event.AgentReplaced{From: 0, To: 1, Why: "overload: 529"})
	later := noon.Add(30 * time.Minute)
	b.apply(t, later, overloaded...)
	if since := b.Failover.Aside[0].Limits.Since; !since.Equal(noon) {
		t.Errorf("if the other was unreachable too, it is counted from %s", since)
	}
	b.apply(t, later, event.IterationEnded{N: 2, Outcome: event.OutcomeDone})
	if since := b.Failover.Aside[0].Limits.Since; !since.Equal(later) {
		t.Errorf("where the other worked, it is counted from %s", since)
	}
	b.apply(t, later, event.ClockJumped{By: 60_000})
	if since := b.Failover.Aside[0].Limits.Since; !since.Equal(later.Add(time.Minute)) {
		t.Errorf("after a minute asleep, it is counted from %s", since)
	}
	b.apply(t, later, event.LoopUnpaused{})
	if since := b.Failover.Aside[0].Limits.Since; !since.IsZero() {
		t.Errorf("after a pause, it is counted from %s", since)
	}
}

func TestAgentRecordIsBounded(t *testing.T) {
	b := &books{}
	for _, to := range []int{-1, 0, 3, 1 << 40} {
		b.apply(t, noon, event.AgentReplaced{To: to, Reason: event.ReasonAuth})
		if b.Failover.Agent != 0 || len(b.Failover.Aside) != 0 {
			t.Fatalf("agent %d of three: %+v", to, b.Failover)
		}
	}
	long := strings.Repeat("x", 1<<20)
	b.apply(t, noon, event.AgentReplaced{To: 2, Reason: event.ReasonAuth, Why: long, Hint: long})
	if kept := b.Failover.Aside[0]; len(b.Failover.Aside) != 3 || len(kept.Why) > 4<<10 || len(kept.Hint) > 4<<10 || kept.Reason != event.ReasonAuth {
		t.Errorf("%d agents, %d and %d bytes, %q", len(b.Failover.Aside), len(kept.Why), len(kept.Hint), kept.Reason)
	}
}
