package loop_test

import (
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// Mutations that the invariants of the second edition notice.
var wrongInTheSecondEdition = []wrong{
	{"a refused file DONE stays where it is", mutation{folded: always(func(s *loopstate.State) { s.Completion.Aside = false }), unfolded: true}, runEnds},
	{"what an iteration spent is forgotten", mutation{folded: after(event.TypeIterationEnded, func(s *loopstate.State) { s.Budget.Total = policy.Spending{} }), unfolded: true}, allCounted},
	{"how long the loop ran is forgotten", mutation{folded: always(func(s *loopstate.State) { s.Budget.Waited = 1 << 40 }), unfolded: true, stage: short}, overspends},
	{"the limits of an iteration are forgotten", mutation{folded: always(func(s *loopstate.State) {
		s.Rules.Limits.IterationCost, s.Rules.Limits.IterationTokens = 0, 0
	}), unfolded: true, stage: thrifty}, turnOverspends},
	{"a stated reset is forgotten", mutation{folded: always(func(s *loopstate.State) { s.Failover.Limits.NotUntil = s.At }), unfolded: true, stage: rated}, resetsHold},
	{"a limit is taken for a failure", mutation{folded: always(func(s *loopstate.State) { s.Failover.Limits.Kind = "" }), unfolded: true}, refundsHold},
	{"an agent at work is reported as parked", mutation{hasty: true}, checksAlone},
	{"a check begins before the agent has gone", mutation{folded: after(event.TypeAgentFinished, func(s *loopstate.State) { s.Phase = policy.Gone }), unfolded: true, stage: withGuardrails}, checksAlone},
	{"what failed is committed", mutation{folded: always(func(s *loopstate.State) { s.Verification.Failures = nil }), unfolded: true, stage: withGuardrails}, commitsPassed},
	{"a check is asked for twice", mutation{folded: after(event.TypeGuardrailStarted, func(s *loopstate.State) { s.Phase = policy.Gone }), unfolded: true, stage: withGuardrails}, oneOfAKind},
	{"a wait for a person is forgotten", mutation{folded: always(func(s *loopstate.State) { s.Escalation = policy.Escalation{} }), unfolded: true, stage: asking}, waitsForPerson},
	{"a pause for a person is forgotten", mutation{folded: always(forgetPause), unfolded: true, stage: asking}, waitsForPerson},
	{"sleep of the machine is not noticed", mutation{deaf: true, stage: sleepy}, realSilence},
	{"the state keeps everything", mutation{folded: always(func(s *loopstate.State) { s.Verification.Left = append(s.Verification.Left, strings.Repeat("x", 5000)) }), unfolded: true}, bounded},
	{"a warning is forgotten", mutation{folded: after(event.TypeIterationStarted, func(s *loopstate.State) { s.Budget.Warned = nil }), unfolded: true}, warnsOnce},
	{"a guardrail that was changed is believed", mutation{folded: always(func(s *loopstate.State) { s.Verification.Unrestored = nil }), unfolded: true, stage: tampered}, claimsHold},
	{"open boxes are taken for ticked ones", mutation{folded: always(func(s *loopstate.State) { s.Completion.Ticked = s.Completion.Boxes }), unfolded: true, stage: listed}, claimsHold},
	{"failed guardrails are taken for passed ones", mutation{folded: always(func(s *loopstate.State) { s.Verification.Failures = nil }), unfolded: true, stage: claiming}, claimsHold},
	{"looking back is forgotten", mutation{folded: always(func(s *loopstate.State) { s.Reflection.Last = 0 }), unfolded: true}, looksBack},
	{"going to and fro is taken for progress", mutation{folded: always(func(s *loopstate.State) { s.Breaker.Seen, s.Breaker.Began = nil, "" }), unfolded: true}, progressHolds},
	{"the loop ends for a reason of its own", mutation{folded: after(event.TypeIterationEnded, func(s *loopstate.State) { s.Failover.Limits.Person = event.KindAuth }), unfolded: true}, reasonHolds},
}

// always spoils the state after every append.
func always(spoil func(*loopstate.State)) func([]event.Event, *loopstate.State) {
	return func(_ []event.Event, s *loopstate.State) { spoil(s) }
}

// after spoils the state if the last recorded event is of that type.
func after(t event.Type, spoil func(*loopstate.State)) func([]event.Event, *loopstate.State) {
	return func(events []event.Event, s *loopstate.State) {
		if events[len(events)-1].Type == t {
			spoil(s)
		}
	}
}

func forgetPause(s *loopstate.State) {
	if s.Wait != nil && s.Wait.For == event.WaitPerson {
		s.Wait, s.Escalation = nil, policy.Escalation{}
	}
}

// withGuardrails is a scenario with guardrails that fail and commits, and nothing that claims.
func withGuardrails(s *scenario) {
	s.repo, s.rules.SCM, s.rules.Guardrails, s.passes = true, true, 2, 50
	s.rules.Completion.DoneFile, s.rules.Completion.Checklist, s.claims, s.leaves = false, false, 0, 0
}

func sleepy(s *scenario) {
	s.naps = time.Minute
	s.sleeps, s.rules.Limits.Idle, s.rules.Limits.Tool = true, event.Duration(2*time.Minute), event.Duration(3*time.Minute)
}

func thrifty(s *scenario) { s.rules.Limits.IterationTokens = 1_000 }

func rated(s *scenario) {
	s.limits, s.droughts, s.kinds, s.outage, s.rules.Limits.MaxOutage = 60, 3, []event.FaultKind{event.KindRate}, 0, 0
}

func asking(s *scenario) { s.asks, s.rules.Restart.WaitExitCode, s.rules.WaitEnds = 60, 42, false }

func listed(s *scenario) {
	s.task, s.rules.Completion.Checklist, s.rules.SCM, s.claims = true, true, false, 60
}

func claiming(s *scenario) { s.rules.Guardrails, s.passes, s.rules.SCM, s.claims = 1, 50, false, 80 }

func tampered(s *scenario) {
	s.rules.Guardrails, s.passes, s.edits, s.rules.SCM, s.claims = 1, 100, 60, false, 80
}

func short(s *scenario) {
	s.rules.Limits.Duration, s.rules.MaximumIterations = event.Duration(time.Minute), 10
}
