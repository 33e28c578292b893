package loop_test

import (
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// What the invariants of the second edition are for.
var wrongInTheSecondEdition = []wrong{
	{"a refused file DONE stays where it is", mutation{folded: always(func(s *projector.State) { s.Completion.Aside = false }), unfolded: true}, nightEnds},
	{"what an iteration spent is forgotten", mutation{folded: after(event.TypeIterationEnded, func(s *projector.State) { s.Budget.Total = event.Usage{} }), unfolded: true}, allCounted},
	{"how long the loop ran is forgotten", mutation{folded: always(func(s *projector.State) { s.Budget.Idle = 1 << 40 }), unfolded: true, stage: short}, overspends},
	{"the limits of an iteration are forgotten", mutation{folded: always(func(s *projector.State) { s.Budget.Rules.IterationCost, s.Budget.Rules.IterationTokens = 0, 0 }), unfolded: true, stage: thrifty}, turnOverspends},
	{"a stated reset is forgotten", mutation{folded: always(func(s *projector.State) { s.Limits.NotUntil = s.At }), unfolded: true, stage: rated}, resetsHold},
	{"a limit is taken for a failure", mutation{folded: always(func(s *projector.State) { s.Limits.Kind = "" }), unfolded: true}, refundsHold},
	{"an agent is said to rest that is at work", mutation{hasty: true}, checksAlone},
	{"the mind looks before the agent has gone", mutation{folded: after(event.TypeAgentFinished, func(s *projector.State) { s.Life.Phase = policy.Gone }), unfolded: true, stage: gated}, checksAlone},
	{"what failed is committed", mutation{folded: always(func(s *projector.State) { s.Gate.Failures = nil }), unfolded: true, stage: gated}, commitsPassed},
	{"a check is asked for twice", mutation{folded: after(event.TypeGuardrailStarted, func(s *projector.State) { s.Life.Phase = policy.Gone }), unfolded: true, stage: gated}, oneOfAKind},
	{"the person who is waited for is forgotten", mutation{folded: always(func(s *projector.State) { s.Person = policy.Person{} }), unfolded: true, stage: asking}, waitsForPerson},
	{"a pause for a person is forgotten", mutation{folded: always(forgetPause), unfolded: true, stage: asking}, waitsForPerson},
	{"nobody notices that the machine slept", mutation{deaf: true, stage: sleepy}, realSilence},
	{"the state keeps everything", mutation{folded: always(func(s *projector.State) { s.Gate.Left = append(s.Gate.Left, strings.Repeat("x", 5000)) }), unfolded: true}, bounded},
	{"a warning is forgotten", mutation{folded: after(event.TypeIterationStarted, func(s *projector.State) { s.Budget.Warned = nil }), unfolded: true}, warnsOnce},
	{"a guardrail that was changed is believed", mutation{folded: always(func(s *projector.State) { s.Gate.Loose = nil }), unfolded: true, stage: tampered}, claimsHold},
	{"open boxes are taken for ticked ones", mutation{folded: always(func(s *projector.State) { s.Completion.Ticked = s.Completion.Boxes }), unfolded: true, stage: listed}, claimsHold},
	{"failed guardrails are taken for passed ones", mutation{folded: always(func(s *projector.State) { s.Gate.Failures = nil }), unfolded: true, stage: claiming}, claimsHold},
	{"looking back is forgotten", mutation{folded: always(func(s *projector.State) { s.Reflection.Last = 0 }), unfolded: true}, looksBack},
	{"going to and fro is taken for progress", mutation{folded: always(func(s *projector.State) { s.Breaker.Seen, s.Breaker.Began = nil, "" }), unfolded: true}, progressHolds},
	{"the loop ends for a reason of its own", mutation{folded: after(event.TypeIterationEnded, func(s *projector.State) { s.Limits.Person = policy.KindAuth }), unfolded: true}, reasonHolds},
}

// always spoils the state behind every append.
func always(spoil func(*projector.State)) func([]event.Event, *projector.State) {
	return func(_ []event.Event, s *projector.State) { spoil(s) }
}

// after spoils it where the last that was recorded is of that type.
func after(t event.Type, spoil func(*projector.State)) func([]event.Event, *projector.State) {
	return func(events []event.Event, s *projector.State) {
		if events[len(events)-1].Type == t {
			spoil(s)
		}
	}
}

func forgetPause(s *projector.State) {
	if s.Life.Person {
		s.Life.Paused, s.Mail.Pausing, s.Person = false, false, policy.Person{}
	}
}

// gated is a scene with guardrails that fail and commits, and nothing that claims.
func gated(s *scene) {
	s.repo, s.rules.SCM, s.rules.Guardrails, s.passes = true, true, 2, 50
	s.rules.DoneFile, s.rules.Checklist, s.claims, s.leaves = false, false, 0, 0
}

func sleepy(s *scene) {
	s.naps = time.Minute
	s.sleeps, s.rules.IdleAfter, s.rules.ToolIdleAfter = true, 120_000, 180_000
}

func thrifty(s *scene) { s.rules.IterationTokens = 1_000 }

func rated(s *scene) {
	s.limits, s.droughts, s.kinds, s.outage, s.rules.OutageLimit = 60, 3, []string{policy.KindRate}, 0, 0
}

func asking(s *scene) { s.asks, s.rules.WaitExitCode, s.rules.WaitEnds = 60, 42, false }

func listed(s *scene) { s.task, s.rules.Checklist, s.rules.SCM, s.claims = true, true, false, 60 }

func claiming(s *scene) { s.rules.Guardrails, s.passes, s.rules.SCM, s.claims = 1, 50, false, 80 }

func tampered(s *scene) {
	s.rules.Guardrails, s.passes, s.edits, s.rules.SCM, s.claims = 1, 100, 60, false, 80
}

func short(s *scene) { s.rules.LimitDuration, s.rules.MaximumIterations = 60_000, 10 }
